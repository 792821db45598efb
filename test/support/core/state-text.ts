// A state as text, to compare states and to look into them.
import { restoreState, snapshotState } from "../../../services/core/state/snapshot.ts";
import type { ConversationState } from "../../../services/core/state/state.ts";

export function stateText(state: ConversationState): string {
  return JSON.stringify(snapshotState(state));
}

export function stateFromText(text: string): ConversationState {
  return restoreState(JSON.parse(text));
}
