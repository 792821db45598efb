/**
 * Where the decisions of late lie in the journal: so that a report, a verdict or a question that names
 * only an id finds its conversation without reading the journal. A cache: what is not in it is searched
 * for there.
 */
import type { CallHeld, DecisionEvent, GateEvent, ResultRecorded } from "../core/events.ts";
import type { VerdictSubject } from "../core/inputs.ts";
import type { CommittedRecord } from "../runtime/journal.ts";
import { RecentMap } from "./recent-map.ts";

const CALLS_MAX = 50_000;
/** Calls of which it is not known how they ended for longer than others take: each is asked for again, and the journal is long. */
const OPEN_MAX = 100_000;

/** Where a record of the journal is. */
export type JournalPlace = { readonly partition: number; readonly offset: number };

export type KnownCall = {
  readonly decisionId: string;
  readonly tenantId: string;
  readonly conversationId: string;
  readonly callId: string;
  readonly tool: string;
  readonly isRead: boolean;
  readonly outcome: DecisionEvent["type"];
  /** Of a held call: what a verdict on it is about. */
  readonly about: VerdictSubject | null;
  /** Of the latest decision. */
  readonly place: JournalPlace;
  /** Of the latest that was told of its end, by whomever; null: nothing was. */
  readonly end: JournalPlace | null;
  /** It is known how it ended: nothing more is told of that. */
  readonly isOver: boolean;
  /** Of the latest result that was reported. */
  readonly result: JournalPlace | null;
};

export class KnownCalls {
  readonly #calls = new RecentMap<KnownCall>(CALLS_MAX);
  /** Without an end or a decision for so long that others took their place. Some have one by now. */
  readonly #open = new RecentMap<KnownCall>(OPEN_MAX);
  /** Holds that wait, by approval id. */
  readonly #holds = new Map<string, string>();

  get(decisionId: string): KnownCall | undefined {
    return this.#calls.get(decisionId) ?? this.#open.get(decisionId);
  }

  /** The call that waits under this approval id. */
  held(approvalId: string): KnownCall | undefined {
    const decisionId = this.#holds.get(approvalId);
    return decisionId === undefined ? undefined : this.get(decisionId);
  }

  committed(records: readonly CommittedRecord[], partition: number): void {
    for (const { offset, record } of records) {
      for (const event of record.events) this.learn(event, { partition, offset });
    }
  }

  learn(event: GateEvent, place: JournalPlace): void {
    switch (event.type) {
      case "allowed":
      case "refused":
      case "held":
        this.#decided(event, place);
        return;
      case "result_recorded":
        if (event.status !== "started") this.#reported(event, place);
        return;
      case "outcome_unknown":
        this.#told(event.decisionId, { end: place });
        return;
      case "reconciled":
        this.#told(event.decisionId, { end: place, isOver: true });
        return;
      case "repeated":
      case "ruled":
      case "ignored":
        return;
    }
  }

  #decided(event: DecisionEvent, place: JournalPlace): void {
    if (event.approvalId !== null) this.#holds.delete(event.approvalId);
    if (event.type === "held") this.#holds.set(event.holdId, event.decisionId);
    this.#put(knownCall(event, place));
  }

  #reported({ decisionId, status }: ResultRecorded, place: JournalPlace): void {
    this.#told(decisionId, { end: place, isOver: status !== "unknown", result: place });
  }

  #told(decisionId: string, news: Partial<Pick<KnownCall, "end" | "isOver" | "result">>): void {
    const call = this.get(decisionId);
    if (call !== undefined) this.#put({ ...call, ...news });
  }

  #put(call: KnownCall): void {
    const gone = this.#calls.set(call.decisionId, call);
    if (gone === undefined) return;
    for (const one of gone) {
      const known = this.#open.get(one.decisionId);
      // What has ended must not come back as open.
      if (isOpen(one) || known !== undefined) this.#open.set(one.decisionId, one);
    }
  }
}

function isOpen({ outcome, isOver }: KnownCall): boolean {
  return outcome === "held" || (outcome === "allowed" && !isOver);
}

function subjectOf({ callId, actionKey, ruleDigest }: CallHeld): VerdictSubject {
  return { callId, actionKey, ruleDigest };
}

export function knownCall(event: DecisionEvent, place: JournalPlace): KnownCall {
  return {
    decisionId: event.decisionId,
    tenantId: event.tenantId,
    conversationId: event.conversationId,
    callId: event.callId,
    tool: event.tool,
    isRead: event.isRead,
    outcome: event.type,
    about: event.type === "held" ? subjectOf(event) : null,
    place,
    end: null,
    isOver: false,
    result: null,
  };
}
