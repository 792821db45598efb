/** Call names, by which the gate recognizes a proposal that is delivered again. */

import { ledgerGet } from "../../collections/ledger.ts";
import { trieGet } from "../../collections/trie.ts";
import type { DecisionEvent } from "../events.ts";
import { sha256Hex } from "../hash.ts";
import type { RetainedDecision } from "./retained-decision.ts";
import type { ConversationState } from "./state.ts";

/**
 * (turn, step, callId) within a conversation; a turn of null counts as a value. Where no step is sent the
 * arguments take its place: call ids that begin afresh with each model message name different calls.
 */
export function callNameOf(
  turn: string | null,
  step: string | null,
  callId: string,
  argumentsDigest: string,
): string {
  const within = step === null ? `-${argumentsDigest}` : namePart(step);
  // Joined: a text of several parts would take their memory too, in each state that has it.
  return [namePart(turn), within, callId].join(" ");
}

export function nameOfDecision({ call, arguments: { digest } }: DecisionEvent): string {
  return callNameOf(call.turn, call.step, call.callId, digest);
}

/** The length in front separates parts that contain spaces. */
function namePart(text: string | null): string {
  return text === null ? "-" : `${text.length}:${text}`;
}

/**
 * The decision on the first call of the name, for as long as the conversation lasts, unless it was
 * dropped to make room.
 */
export function findByName(state: ConversationState, name: string): RetainedDecision | undefined {
  return (
    ledgerGet(state.retained, name, state.lastAtMs) ?? ledgerGet(state.loose, name, state.lastAtMs)
  );
}

/**
 * Whether a write had the name and its decision was dropped to make room: then nobody can tell
 * whether this is the same call.
 */
export function isForgotten({ forgotten }: Pick<ConversationState, "forgotten">, name: string) {
  return forgotten.size > 0 && trieGet(forgotten, forgottenKey(name)) !== undefined;
}

/** A short key, however long the name is. */
export function forgottenKey(name: string): string {
  return sha256Hex("callgate.name.v1", name).slice(0, 32);
}

/** Whether the call may have had an effect: then its name is never given to another call. */
export function hasPermanentName(event: DecisionEvent): boolean {
  return event.type === "held" || (event.type === "allowed" && !event.policy.isRead);
}

/** Rough size of a stored decision, in bytes. */
export function decisionBytes(event: DecisionEvent): number {
  const refusal = event.type === "refused" ? event.refusal.message.length * 2 : 0;
  const { text, sealed } = event.arguments;
  const sealedLength = sealed.reduce((sum, one) => sum + one.sealed.length, 0);
  return 512 + text.length + sealedLength + refusal;
}
