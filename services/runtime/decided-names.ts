/**
 * Tells which proposals of a journal have a terminal decision. A proposal that is delivered again
 * gets its first decision and is never decided a second time.
 */
import type { DecisionEvent } from "../core/events.ts";
import { REASONS } from "../core/reasons/reasons.ts";
import { callNameOf } from "../core/state/names.ts";
import { conversationKey } from "./partitioner.ts";

export class DecidedNames {
  /** Decision ids by call name, by conversation. */
  readonly #conversations = new Map<string, Map<string, string>>();

  /**
   * Takes the next decision of the journal. True: the same proposal already has a terminal decision
   * that the conversation has not forgotten.
   */
  isSecond(event: DecisionEvent): boolean {
    const names = this.#namesOf(event);
    for (const name of event.conversation.evicted?.names ?? []) names.delete(name);
    if (event.type === "held" || isUnnamed(event)) return false;
    const name = callNameOf(event.call.turn, event.call.step, event.call.callId);
    const earlierId = names.get(name);
    if (earlierId === undefined) names.set(name, event.decisionId);
    return earlierId === event.decisionId;
  }

  /** A conversation that starts afresh remembers nothing. */
  #namesOf({
    tenantId,
    conversationId,
    conversation: { fresh },
  }: DecisionEvent): Map<string, string> {
    const key = conversationKey(tenantId, conversationId);
    const existing = fresh ? undefined : this.#conversations.get(key);
    if (existing !== undefined) return existing;
    const names = new Map<string, string>();
    this.#conversations.set(key, names);
    return names;
  }
}

function isUnnamed(event: DecisionEvent): boolean {
  return event.type === "refused" && REASONS[event.refusal.reason].keepsNoName === true;
}
