/** Call names: what a proposal is recognized by when it is delivered again. */

import { ledgerGet } from "../../collections/ledger.ts";
import { trieGet } from "../../collections/trie.ts";
import type { DecisionEvent } from "../events.ts";
import { sha256Hex } from "../hash.ts";
import type { RetainedDecision } from "./retained-decision.ts";
import type { ConversationState } from "./state.ts";

/** (turn, step, callId) within a conversation; null counts as a value. */
export function callNameOf(turn: string | null, step: string | null, callId: string): string {
  return `${namePart(turn)} ${namePart(step)} ${callId}`;
}

/** The length in front keeps parts with spaces apart. */
function namePart(text: string | null): string {
  return text === null ? "-" : `${text.length}:${text}`;
}

/** The decision on the first call of the name, for as long as the conversation lasts, unless it went to make room. */
export function findByName(state: ConversationState, name: string): RetainedDecision | undefined {
  return (
    ledgerGet(state.retained, name, state.lastAtMs) ?? ledgerGet(state.loose, name, state.lastAtMs)
  );
}

/** A write had the name, and its decision went to make room: nobody can tell whether this is the same call. */
export function isForgotten({ forgotten }: Pick<ConversationState, "forgotten">, name: string) {
  return forgotten.size > 0 && trieGet(forgotten, forgottenKey(name)) !== undefined;
}

/** Short, however long the name is. */
export function forgottenKey(name: string): string {
  return sha256Hex("callgate.name.v1", name).slice(0, 32);
}

/** Calls that may have had an effect: their names are never given to another call. */
export function hasPermanentName(event: DecisionEvent): boolean {
  return event.type === "held" || (event.type === "allowed" && !event.policy.isRead);
}

/** Rough size of a decision as it is kept, in bytes. */
export function decisionBytes(event: DecisionEvent): number {
  const refusal = event.type === "refused" ? event.refusal.message.length * 2 : 0;
  const { text, sealed } = event.arguments;
  const sealedLength = sealed.reduce((sum, one) => sum + one.sealed.length, 0);
  return 512 + text.length + sealedLength + refusal;
}
