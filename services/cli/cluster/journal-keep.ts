import { journalKeepMs } from "../../gate/gate-engine.ts";
import type { GatePolicy } from "../../gate/gate-policy.ts";

/** What the journal is kept for where no policy asks for more. */
export const JOURNAL_KEEP_MS = 9 * 86_400_000;

/** How long the journal must be kept at least, as a gate with this policy asks for it; null: that policy is not known here. */
export function neededKeepMs(policy: GatePolicy | undefined): number | null {
  return policy === undefined ? null : journalKeepMs(policy.compiled);
}
