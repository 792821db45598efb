/** Call names: what a proposal is recognized by when it is delivered again. */

import type { DecisionEvent } from "../events.ts";
import { ledgerGet } from "../persistent/ledger.ts";
import type { KeptDecision } from "./kept-decision.ts";
import type { ConversationState } from "./state.ts";

/** Of the latest: a call is named when it is decided, and again when the decision is kept. */
let lastTurn: string | null = null;
let lastStep: string | null = null;
let lastStart = "- - ";
let lastCallId = "";
let lastName = lastStart;

/** (turn, step, callId) within a conversation; null counts as a value. */
export function callNameOf(turn: string | null, step: string | null, callId: string): string {
  const isOfStep = lastTurn === turn && lastStep === step;
  if (isOfStep && lastCallId === callId) return lastName;
  if (!isOfStep) {
    lastStart = `${namePart(turn)} ${namePart(step)} `;
    lastTurn = turn;
    lastStep = step;
  }
  lastCallId = callId;
  lastName = lastStart + callId;
  return lastName;
}

/** The length in front keeps parts with spaces apart. */
function namePart(text: string | null): string {
  return text === null ? "-" : `${text.length}:${text}`;
}

export function findNamed(
  state: ConversationState,
  name: string,
  nowMs: number,
): KeptDecision | undefined {
  return ledgerGet(state.kept, name, nowMs) ?? ledgerGet(state.loose, name, nowMs);
}

/** Names of calls that may have had an effect stay for their window; others may go. */
export function staysNamed(event: DecisionEvent): boolean {
  return event.type === "held" || (event.type === "allowed" && !event.isRead);
}

/** Rough size of a decision as it is kept, in bytes. */
export function decisionBytes(event: DecisionEvent): number {
  const refusal = event.type === "refused" ? event.refusal.message.length * 2 : 0;
  return 512 + event.arguments.length + refusal;
}
