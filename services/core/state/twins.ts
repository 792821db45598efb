/** Finding the twin of a call: the latest earlier allowed call with the same action key. */
import { ledgerGet } from "../persistent/ledger.ts";
import { trieVisit } from "../persistent/trie.ts";
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
  let twin: OpenCall | undefined;
  trieVisit(state.open, (open, id) => {
    if (open.status !== "held" || id === except || open.call.twinKey !== twinKey) return false;
    twin = open;
    return true;
  });
  return twin;
}
