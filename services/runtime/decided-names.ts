/** Which proposals of a journal have their terminal decision: one that comes again is answered with it, never decided anew. */
import type { DecisionEvent } from "../core/events.ts";
import type { ReasonCode } from "../core/reasons.ts";
import { callNameOf } from "../core/state/names.ts";
import { conversationKey } from "./partitioner.ts";

/** Refusals that may come again under one decision id: the name was another call's, or no call's. */
const UNNAMED: readonly ReasonCode[] = [
  "call_id_conflict",
  "malformed",
  "too_large",
  "misrouted",
  "unauthenticated",
];

export class DecidedNames {
  /** Decision ids by call name, by conversation. */
  readonly #conversations = new Map<string, Map<string, string>>();

  /** Takes the next decision of the journal; true: the same proposal has a terminal one, and it was not forgotten since. */
  isSecond(event: DecisionEvent): boolean {
    const names = this.#namesOf(event);
    for (const name of event.conversation.evicted?.names ?? []) names.delete(name);
    if (event.type === "held" || isUnnamed(event)) return false;
    const name = callNameOf(event.call.turn, event.call.step, event.call.callId);
    const known = names.get(name);
    if (known === undefined) names.set(name, event.decisionId);
    return known === event.decisionId;
  }

  /** A conversation that starts afresh remembers nothing. */
  #namesOf({
    tenantId,
    conversationId,
    conversation: { fresh },
  }: DecisionEvent): Map<string, string> {
    const key = conversationKey(tenantId, conversationId);
    const known = fresh ? undefined : this.#conversations.get(key);
    if (known !== undefined) return known;
    const names = new Map<string, string>();
    this.#conversations.set(key, names);
    return names;
  }
}

function isUnnamed(event: DecisionEvent): boolean {
  return event.type === "refused" && UNNAMED.includes(event.refusal.reason);
}
