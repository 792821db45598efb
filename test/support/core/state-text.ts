// A state as text, to compare states and to look into them.
import { packValue } from "../../../services/core/packed/pack-value.ts";
import { unpackValue } from "../../../services/core/packed/unpack-value.ts";
import { restoreState, snapshotState } from "../../../services/core/state/snapshot.ts";
import type { ConversationState } from "../../../services/core/state/state.ts";

/** Members are in the order of their names: equal states have equal texts. */
export function stateText(state: ConversationState): string {
  return JSON.stringify(unpackValue(packValue(snapshotState(state))));
}

export function stateFromText(text: string): ConversationState {
  return restoreState(JSON.parse(text));
}
