/**
 * The checks in their order; the first whose reason is enforced decides. Envelope, redelivery, tool
 * and arguments come before: they make the call that these judge (`decide/decide-proposal.ts`).
 * Written by `npm run schemas` from `CHECK_ORDER` in `reasons/check-reasons.ts`.
 */
import { acknowledgementCheck } from "./acknowledgement.ts";
import { budgetsCheck } from "./budgets.ts";
import type { Check } from "./check.ts";
import { conversationCheck } from "./conversation.ts";
import { denialsCheck } from "./denials.ts";
import { deniedFormsCheck } from "./denied-forms.ts";
import { duplicateCheck } from "./duplicate.ts";
import { historyCheck } from "./history.ts";
import { loopsCheck } from "./loops.ts";
import { nearDuplicateCheck } from "./near-duplicate.ts";
import { sideEffectsCheck } from "./side-effects.ts";
import { tierCheck } from "./tier.ts";

export const CHECKS: readonly Check[] = [
  conversationCheck,
  budgetsCheck,
  duplicateCheck,
  historyCheck,
  nearDuplicateCheck,
  sideEffectsCheck,
  loopsCheck,
  acknowledgementCheck,
  denialsCheck,
  tierCheck,
  deniedFormsCheck,
];
