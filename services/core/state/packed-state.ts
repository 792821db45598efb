/** A conversation's state as bytes: its snapshot, packed. */
import { packValue } from "../packed/pack-value.ts";
import { unpackValue } from "../packed/unpack-value.ts";
import { restoreState, type StateData, snapshotState } from "./snapshot.ts";
import type { ConversationState } from "./state.ts";

/**
 * Names and texts that most states have, those of many calls first: they need not be stored. A change raises the
 * version of checkpoints, as a change of the snapshot does; a name that is missing costs its bytes.
 */
const WORDS: readonly string[] = `
dropAtMs decisionId rates exclusive grant more priorKey recentCallsMax repeats resources
windowUntilMs tenantId conversationId turn approval approvalId approvedBy arguments actionKey
digest sealed text call agentId callId step tool conversation confirmation entersTurn evicted
fresh execution attempt openedAtMs facts idempotencyArgument keyId notAfterMs notices shadow
warnings policy isRead revision tier tierRule timeLimitMs times atMs proposalsAtMs type message
reason rule next entries startedAtMs spent calls steps lastStep heldBeforeMs lastAtMs n id index
answeredN totals tools turnIndex turnCalls turnSteps retained loose forgotten priorReads
priorWrites open doubts writes any undeclared byResource effects sketches recentCalls strikes
cycle flags userInputRequired stoppedTool ended acknowledge grants confirmations heldTime totalMs sinceMs
manualGrants denials in_flight allowed succeeded default refused held failed unknown
`
  .trim()
  .split(/\s+/);

/** Equal states give equal bytes. */
export function packState(state: ConversationState): Uint8Array {
  return packValue(snapshotState(state), WORDS);
}

/** @throws Error where the bytes are not those of a state of this version. */
export function unpackState(bytes: Uint8Array): ConversationState {
  return restoreState(unpackValue(bytes, WORDS) as unknown as StateData);
}
