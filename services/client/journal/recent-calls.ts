/**
 * Journal positions of recent decisions, so that a report, a verdict or a question that has only an
 * id finds its conversation without reading the journal. This is a cache: what it lacks is searched
 * for in the journal.
 */

import type { CallHeld, DecisionEvent, GateEvent } from "../../core/events.ts";
import type { VerdictSubject } from "../../core/inputs.ts";
import type { CommittedRecord, JournalRecord } from "../../runtime/journal.ts";
import { RecentMap } from "./recent-map.ts";
import type { JournalPosition } from "./search-journal.ts";

const CALLS_MAX = 50_000;
/**
 * Bounds the calls that stay without an outcome longer than others. They are kept because each will
 * be asked for again, and the journal is long.
 */
const OPEN_MAX = 100_000;

export type JournaledCall = {
  readonly decisionId: string;
  readonly tenantId: string;
  readonly conversationId: string;
  readonly callId: string;
  readonly tool: string;
  readonly isRead: boolean;
  readonly outcome: DecisionEvent["type"];
  /** For a held call: the subject of a verdict on it. */
  readonly about: VerdictSubject | null;
  /** Position of the latest decision. */
  readonly position: JournalPosition;
  /** Null: nobody has begun the call. */
  readonly start: CallStart | null;
  /** Position of the latest report of the call's end, whoever sent it; null if there is none. */
  readonly end: JournalPosition | null;
  /** The end is certain: no later record changes it. */
  readonly isOver: boolean;
  /** Position of the latest reported result. */
  readonly result: JournalPosition | null;
  /**
   * Records from this position on are not included, because the call was searched for rather than
   * delivered. Null: everything journaled about it is included.
   */
  readonly since: JournalPosition | null;
};

/** News about a call after it was allowed. */
export type CallNews = Pick<JournaledCall, "decisionId"> &
  Partial<Pick<JournaledCall, "start" | "end" | "isOver" | "result">>;

export class RecentCalls {
  readonly #calls = new RecentMap<JournaledCall>(CALLS_MAX);
  /** Calls without an end or a decision that `#recent` has dropped. Some have one by now. */
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
      // A call that has ended must not come back as open.
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

/** Undefined if the event says nothing about how a call ended. */
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
    case "claimed":
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

/** The start of a call. */
export type CallStart = {
  /** The name of the claimant; null if it gave none. */
  readonly by: string | null;
  readonly position: JournalPosition;
};

const GUARD = "guard:";
/** Begins the name of a claim that an HTTP server made for one of its workers. */
export const WORKER = "worker:";

/** The unique name of one claim of a guard. */
export function claimName(id: string): string {
  return `${GUARD}${id}`;
}

export function isByGuard({ by }: CallStart): boolean {
  return by?.startsWith(GUARD) === true;
}

function isClaim(start: CallStart): boolean {
  return isByGuard(start) || start.by?.startsWith(WORKER) === true;
}

/** The start that the record at this position has; undefined if it has none. */
export function readStart(
  { input, events }: JournalRecord,
  position: JournalPosition,
): { readonly decisionId: string; readonly start: CallStart } | undefined {
  if (input.type !== "decided" || input.input.type !== "result") return undefined;
  const { decisionId, status, executorId: by = null } = input.input;
  // A report of an unknown outcome implies that the reporter began the call.
  if (status !== "started" && status !== "unknown") return undefined;
  // Guards and workers start nothing without a granted claim. Other reporters do not claim.
  const start = { by, position };
  if (events[0]?.type === "ignored" && isClaim(start)) return undefined;
  return { decisionId, start };
}
