/** A conversation's state as bytes: its snapshot, packed. */
import { type Vocabulary, vocabularyOf } from "../packed/format.ts";
import { packValue } from "../packed/pack-value.ts";
import { unpackValue } from "../packed/unpack-value.ts";
import { restoreState, type StateData, snapshotState } from "./snapshot.ts";
import type { ConversationState } from "./state.ts";

/**
 * Texts and members of records that most states have: they need not be stored. A change raises the version of
 * checkpoints, as a change of the snapshot does; what is missing here costs its bytes.
 */
const TEXTS = "unknown held refused failed  default preset in_flight succeeded allowed".split(" ");
const SHAPES = `
entries next
approvalId approvedBy
actionKey digest sealed text
agentId callId step tool turn
confirmation dropAtMs entersTurn evicted fresh
attempt decisionId openedAtMs
dropAtMs exclusive grant more priorKey rates recentCallsMax repeats resources windowUntilMs
shadow warnings
isRead revision tier tierRule
atMs proposalsAtMs
approval arguments call conversation conversationId decisionId execution facts idempotencyArgument keyId notAfterMs notices policy tenantId timeLimitMs times type
heldBeforeMs lastStep spent startedAtMs turnCalls turnIndex turnSteps
acknowledge ended stoppedTool userInputRequired
sinceMs totalMs
budgets calls spent steps
answeredN calls heldBeforeMs id index lastStep spent startedAtMs steps
any byResource undeclared
actions confirmations conversationId cycle denials doubts dropAtMs effects flags forgotten grants heldTime lastAtMs loose manualGrants n open priorReads priorWrites rates recentCalls retained sketches startedAtMs strikes tenantId tools totals turn writes
`;
const VOCABULARY: Vocabulary = vocabularyOf(TEXTS, SHAPES.trim().split("\n"));

/** Equal states give equal bytes. */
export function packState(state: ConversationState): Uint8Array {
  return packValue(snapshotState(state), VOCABULARY);
}

/** @throws Error where the bytes are not those of a state of this version. */
export function unpackState(bytes: Uint8Array): ConversationState {
  return restoreState(unpackValue(bytes, VOCABULARY) as unknown as StateData);
}
