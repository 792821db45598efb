/** Finding the twin of a call: the latest earlier allowed call with the same action key. */
import { ledgerGet } from "../../collections/ledger.ts";
import { heldTwinKey, latestHeld } from "./open-calls.ts";
import type { ConversationState, OpenCall, Twin } from "./state.ts";

/** Twins in turn scope carry the turn in their key: the next turn starts without them. */
export function twinKeyOf(
  actionKey: string,
  scope: "turn" | "conversation",
  turn: string | null,
): string {
  return scope === "conversation" || turn === null ? actionKey : `${actionKey}@${turn}`;
}

export function findTwin(
  state: ConversationState,
  twinKey: string,
  isRead: boolean,
  nowMs: number,
): Twin | undefined {
  return ledgerGet(isRead ? state.readTwins : state.writeTwins, twinKey, nowMs);
}

/** A call with the same identity that waits for a verdict; `except` leaves one hold out. */
export function findHeldTwin(
  state: ConversationState,
  twinKey: string,
  except: string | null,
): OpenCall | undefined {
  if (state.openIndex.heldCount === 0) return undefined;
  return latestHeld(state, heldTwinKey(twinKey), except);
}
