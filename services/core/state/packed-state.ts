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
`;
const VOCABULARY: Vocabulary = vocabularyOf(TEXTS, SHAPES.trim().split("\n"));

/** The members of `StateData`, in the order in which they are stored: without their names. */
const MEMBERS = `
tenantId conversationId startedAtMs lastAtMs dropAtMs n turn totals tools terms retained loose forgotten
priorReads priorWrites open doubts writes effects sketches actions recentCalls strikes cycle flags
rates grants confirmations heldTime manualGrants denials sealKeyId
`
  .trim()
  .split(/\s+/) as readonly (keyof StateData)[];

/** Equal states give equal bytes. */
export function packState(state: ConversationState): Uint8Array {
  const data = snapshotState(state);
  return packValue(
    MEMBERS.map((name) => data[name]),
    VOCABULARY,
  );
}

/** @throws Error where the bytes are not those of a state of this version. */
export function unpackState(bytes: Uint8Array): ConversationState {
  const values = unpackValue(bytes, VOCABULARY) as readonly unknown[];
  const data: { [name: string]: unknown } = {};
  for (let at = 0; at < MEMBERS.length; at += 1) data[MEMBERS[at] as string] = values[at];
  return restoreState(data as StateData);
}
