import { journalKeepMs } from "../../gate/gate-engine.ts";
import type { GatePolicy } from "../../gate/gate-policy.ts";

/** Retention of the journal, unless a policy requires more. */
export const JOURNAL_KEEP_MS = 9 * 86_400_000;

/**
 * The minimum retention of the journal that a gate with this policy requires; null without a
 * policy.
 */
export function neededKeepMs(policy: GatePolicy | undefined): number | null {
  return policy === undefined ? null : journalKeepMs(policy.compiled);
}
