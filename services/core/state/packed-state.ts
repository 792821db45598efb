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
approvalId approvedBy
agentId callId step tool turn
dropAtMs exclusive grant more priorKey rates recentCallsMax repeats resources windowUntilMs
shadow warnings
approval confirmation entersTurn evicted exclusive grant more notices repeats sealed
ancestors kind onFailure resource rule tenantWide
actions confirmations conversationId cycle denials doubts dropAtMs effects flags forgotten grants heldTime lastAtMs loose manualGrants n open priorReads priorWrites rates recentCalls retained sketches startedAtMs strikes tenantId terms tools totals turn writes
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
