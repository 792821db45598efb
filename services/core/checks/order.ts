/**
 * The checks in their order; the first whose reason is enforced decides. Envelope, redelivery, tool
 * and arguments come before: they make the call that these judge (`decide/decide-proposal.ts`).
 * Adding a check: its file, its place here, its codes in `reasons.ts` and `reason-sentences.ts`.
 */
import { checkBudgets } from "./budgets.ts";
import type { Check } from "./check.ts";
import { checkAcknowledged, checkConversation } from "./conversation.ts";
import { checkDenied, checkDeniedForm } from "./denied.ts";
import { checkDuplicate } from "./duplicate.ts";
import { checkHistory } from "./history.ts";
import { checkLoops } from "./loops.ts";
import { checkNearDuplicate } from "./near-duplicate.ts";
import { checkSideEffects } from "./side-effects.ts";
import { checkTier } from "./tier.ts";

export const CHECKS: readonly Check[] = [
  checkConversation,
  checkBudgets,
  checkDuplicate,
  checkHistory,
  checkNearDuplicate,
  checkSideEffects,
  checkLoops,
  checkAcknowledged,
  checkDenied,
  checkTier,
  checkDeniedForm,
];
