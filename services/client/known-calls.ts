/**
 * Where the decisions of late lie in the journal: so that a report, a verdict or a question that names
 * only an id finds its conversation without reading the journal. A cache: what is not in it is searched
 * for there.
 */
import type { CallHeld, DecisionEvent, GateEvent } from "../core/events.ts";
import type { VerdictSubject } from "../core/inputs.ts";
import type { CommittedRecord } from "../runtime/journal.ts";
import { type CallStart, startIn } from "./call-start.ts";
import type { JournalPlace } from "./journal-place.ts";
import { RecentMap } from "./recent-map.ts";

const CALLS_MAX = 50_000;
/** Calls of which it is not known how they ended for longer than others take: each is asked for again, and the journal is long. */
const OPEN_MAX = 100_000;

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
  /** Null: nobody has begun it. */
  readonly start: CallStart | null;
  /** Of the latest that was told of its end, by whomever; null: nothing was. */
  readonly end: JournalPlace | null;
  /** It is known how it ended: nothing more is told of that. */
  readonly isOver: boolean;
  /** Of the latest result that was reported. */
  readonly result: JournalPlace | null;
  /** From here on nothing is known of it: it was searched for, not told. Null: all that is journaled of it is told. */
  readonly since: JournalPlace | null;
};

/** What is told of a call once it is allowed. */
export type CallNews = Pick<KnownCall, "decisionId"> &
  Partial<Pick<KnownCall, "start" | "end" | "isOver" | "result">>;

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
      const place = { partition, offset };
      for (const event of record.events) this.learn(event, place);
      this.#told(startIn(record, place));
    }
  }

  learn(event: GateEvent, place: JournalPlace): void {
    if (isDecision(event)) this.#decided(event, place);
    else this.#told(newsOf(event, place));
  }

  #decided(event: DecisionEvent, place: JournalPlace): void {
    if (event.approval.approvalId !== null) this.#holds.delete(event.approval.approvalId);
    if (event.type === "held") this.#holds.set(event.holdId, event.decisionId);
    this.#put(knownCall(event, place));
  }

  #told(news: CallNews | undefined): void {
    const call = news === undefined ? undefined : this.get(news.decisionId);
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

export function isDecision(event: GateEvent | undefined): event is DecisionEvent {
  return event?.type === "allowed" || event?.type === "refused" || event?.type === "held";
}

/** Undefined where the event says nothing of how a call ended. */
export function newsOf(event: GateEvent, place: JournalPlace): CallNews | undefined {
  switch (event.type) {
    case "result_recorded": {
      const { decisionId, status } = event;
      if (status === "started") return undefined;
      return { decisionId, end: place, isOver: status !== "unknown", result: place };
    }
    case "outcome_unknown":
      return { decisionId: event.decisionId, end: place };
    case "reconciled":
      return { decisionId: event.decisionId, end: place, isOver: true };
    case "allowed":
    case "refused":
    case "held":
    case "repeated":
    case "ruled":
    case "ignored":
      return undefined;
  }
}

function subjectOf({
  call: { callId },
  arguments: { actionKey },
  ruleDigest,
}: CallHeld): VerdictSubject {
  return { callId, actionKey, ruleDigest };
}

export function knownCall(event: DecisionEvent, place: JournalPlace): KnownCall {
  return {
    decisionId: event.decisionId,
    tenantId: event.tenantId,
    conversationId: event.conversationId,
    callId: event.call.callId,
    tool: event.call.tool,
    isRead: event.policy.isRead,
    outcome: event.type,
    about: event.type === "held" ? subjectOf(event) : null,
    place,
    start: null,
    end: null,
    isOver: false,
    result: null,
    since: null,
  };
}
