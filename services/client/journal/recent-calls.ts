/**
 * Where the decisions of late lie in the journal: so that a report, a verdict or a question that names
 * only an id finds its conversation without reading the journal. A cache: what is not in it is searched
 * for there.
 */

import type { CallHeld, DecisionEvent, GateEvent } from "../../core/events.ts";
import type { VerdictSubject } from "../../core/inputs.ts";
import type { CommittedRecord, JournalRecord } from "../../runtime/journal.ts";
import { RecentMap } from "./recent-map.ts";
import type { JournalPosition } from "./search-journal.ts";

const CALLS_MAX = 50_000;
/** Calls of which it is not known how they ended for longer than others take: each is asked for again, and the journal is long. */
const OPEN_MAX = 100_000;

export type JournaledCall = {
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
  readonly position: JournalPosition;
  /** Null: nobody has begun it. */
  readonly start: CallStart | null;
  /** Of the latest that was told of its end, by whomever; null: nothing was. */
  readonly end: JournalPosition | null;
  /** It is known how it ended: nothing more is told of that. */
  readonly isOver: boolean;
  /** Of the latest result that was reported. */
  readonly result: JournalPosition | null;
  /** From here on nothing is known of it: it was searched for, not told. Null: all that is journaled of it is told. */
  readonly since: JournalPosition | null;
};

/** What is told of a call once it is allowed. */
export type CallNews = Pick<JournaledCall, "decisionId"> &
  Partial<Pick<JournaledCall, "start" | "end" | "isOver" | "result">>;

export class RecentCalls {
  readonly #calls = new RecentMap<JournaledCall>(CALLS_MAX);
  /** Without an end or a decision for so long that others took their position. Some have one by now. */
  readonly #open = new RecentMap<JournaledCall>(OPEN_MAX);
  /** Holds that wait, by approval id. */
  readonly #holds = new Map<string, string>();

  get(decisionId: string): JournaledCall | undefined {
    return this.#calls.get(decisionId) ?? this.#open.get(decisionId);
  }

  /** The call that waits under this approval id. */
  held(approvalId: string): JournaledCall | undefined {
    const decisionId = this.#holds.get(approvalId);
    return decisionId === undefined ? undefined : this.get(decisionId);
  }

  committed(records: readonly CommittedRecord[], partition: number): void {
    for (const { offset, record } of records) {
      const position = { partition, offset };
      for (const event of record.events) this.learn(event, position);
      this.#addNews(readStart(record, position));
    }
  }

  learn(event: GateEvent, position: JournalPosition): void {
    if (isDecision(event)) this.#decided(event, position);
    else this.#addNews(readNews(event, position));
  }

  #decided(event: DecisionEvent, position: JournalPosition): void {
    if (event.approval.approvalId !== null) this.#holds.delete(event.approval.approvalId);
    if (event.type === "held") this.#holds.set(event.holdId, event.decisionId);
    this.#put(callOfDecision(event, position));
  }

  #addNews(news: CallNews | undefined): void {
    const call = news === undefined ? undefined : this.get(news.decisionId);
    if (call !== undefined) this.#put({ ...call, ...news });
  }

  #put(call: JournaledCall): void {
    const gone = this.#calls.set(call.decisionId, call);
    if (gone === undefined) return;
    for (const one of gone) {
      const openCall = this.#open.get(one.decisionId);
      // What has ended must not come back as open.
      if (isOpen(one) || openCall !== undefined) this.#open.set(one.decisionId, one);
    }
  }
}

function isOpen({ outcome, isOver }: JournaledCall): boolean {
  return outcome === "held" || (outcome === "allowed" && !isOver);
}

export function isDecision(event: GateEvent | undefined): event is DecisionEvent {
  return event?.type === "allowed" || event?.type === "refused" || event?.type === "held";
}

/** Undefined where the event says nothing of how a call ended. */
export function readNews(event: GateEvent, position: JournalPosition): CallNews | undefined {
  switch (event.type) {
    case "result_recorded": {
      const { decisionId, status } = event;
      if (status === "started") return undefined;
      return { decisionId, end: position, isOver: status !== "unknown", result: position };
    }
    case "outcome_unknown":
      return { decisionId: event.decisionId, end: position };
    case "reconciled":
      return { decisionId: event.decisionId, end: position, isOver: true };
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

export function callOfDecision(event: DecisionEvent, position: JournalPosition): JournaledCall {
  return {
    decisionId: event.decisionId,
    tenantId: event.tenantId,
    conversationId: event.conversationId,
    callId: event.call.callId,
    tool: event.call.tool,
    isRead: event.policy.isRead,
    outcome: event.type,
    about: event.type === "held" ? subjectOf(event) : null,
    position,
    start: null,
    end: null,
    isOver: false,
    result: null,
    since: null,
  };
}

/** Somebody begins the call. */
export type CallStart = {
  /** Who says so; null: who did not tell who it is. */
  readonly by: string | null;
  readonly position: JournalPosition;
};

const GUARD = "guard:";

/** The name of one claim of a guard: no other has it. */
export function claimName(id: string): string {
  return `${GUARD}${id}`;
}

export function isByGuard({ by }: CallStart): boolean {
  return by?.startsWith(GUARD) === true;
}

/** Whose start the record at this position has; undefined: nobody's. */
export function readStart(
  { input, events }: JournalRecord,
  position: JournalPosition,
): { readonly decisionId: string; readonly start: CallStart } | undefined {
  if (input.type !== "decided" || input.input.type !== "result") return undefined;
  const { decisionId, status, executorId: by = null } = input.input;
  // Who reports that it cannot tell how a call ended has begun it.
  if (status !== "started" && status !== "unknown") return undefined;
  // A guard starts nothing that its claim was not granted for. Others do not ask.
  const start = { by, position };
  if (events[0]?.type === "ignored" && isByGuard(start)) return undefined;
  return { decisionId, start };
}
