/** Answers what became of calls: from the journal, or as soon as it is journaled. */

import type { DecisionEvent, GateEvent } from "../../core/events.ts";
import type { CommittedRecord } from "../../runtime/journal.ts";
import { CallgateError } from "../api/callgate-error.ts";
import type { StoredResult, WaitOptions } from "../api/gate-types.ts";
import type { Deadline } from "../deadline.ts";
import { type JournalCalls, unknownDecision } from "./journal-calls.ts";
import { JournalWaits } from "./journal-waits.ts";
import type { CallStart, JournaledCall } from "./recent-calls.ts";
import { type EndedCall, endedCalls } from "./stored-result.ts";

export class CallReader {
  readonly #calls: JournalCalls;
  readonly #decisions = new JournalWaits<DecisionEvent>(
    ({ record }) => terminalDecisions(record.events),
    (id) => `\`${id}\` is still held: it was not decided`,
  );
  readonly #results = new JournalWaits<StoredResult>(
    ({ record }) => endedCalls(record),
    (id) => `nobody reported the outcome of \`${id}\``,
  );

  constructor(calls: JournalCalls) {
    this.#calls = calls;
  }

  /** Call it with everything that the gate commits, after `JournalCalls` has processed it. */
  committed(records: readonly CommittedRecord[]): void {
    this.#decisions.committed(records);
    this.#results.committed(records);
  }

  /** Nothing more will be committed: all waits end with the error. */
  end(error: CallgateError): void {
    this.#decisions.end(error);
    this.#results.end(error);
  }

  /**
   * The terminal decision: at once if there is one, else when the hold ends.
   *
   * @throws CallgateError `unknown_decision`, `timeout`, `closed`; the signal's reason.
   */
  async awaitDecision(decisionId: string, options: WaitOptions): Promise<DecisionEvent> {
    return (await this.#decided(decisionId, options)).event;
  }

  /**
   * How an allowed call ended: at once if that is journaled, else when it is. `unknown` if nobody
   * reported an outcome within its time. Waits for the decision on a held call first.
   *
   * @throws CallgateError as `awaitDecision`; `invalid_input` if the call was refused.
   */
  async awaitResult(decisionId: string, options: WaitOptions): Promise<StoredResult> {
    const wait = this.#results.begin(decisionId, options);
    try {
      const { call, event } = await this.#decided(decisionId, options);
      if (event.type !== "allowed") throw noResult(decisionId);
      const endedCall = await this.#calls.endOf(call, wait);
      return endedCall === undefined ? await wait.ended() : endedCall.stored;
    } finally {
      wait.end();
    }
  }

  /**
   * How the call ended; undefined if the journal does not say, or has no such call. @throws
   * `timeout`
   */
  async endOf(decisionId: string, time: Deadline): Promise<EndedCall | undefined> {
    const call = await this.#calls.get(decisionId, time);
    return call === undefined ? undefined : this.#calls.endOf(call, time);
  }

  /** The call as the journal has it; undefined if it has no such call. @throws `timeout` */
  find(decisionId: string, time: Deadline): Promise<JournaledCall | undefined> {
    return this.#calls.get(decisionId, time);
  }

  /** The call that waits, or waited, under the approval id. @throws `timeout` */
  findHeld(approvalId: string, time: Deadline): Promise<JournaledCall | undefined> {
    return this.#calls.held(approvalId, time);
  }

  /** The latest decision on the call; undefined if retention has deleted it. @throws `timeout` */
  async decisionOf(decisionId: string, time: Deadline): Promise<DecisionEvent | undefined> {
    const call = await this.#calls.get(decisionId, time);
    if (call === undefined) throw unknownDecision(decisionId);
    return this.#calls.decisionOf(call, time);
  }

  /** Who began the call; null if nobody did. @throws `unknown_decision`, `timeout` */
  async startOf(decisionId: string, time: Deadline): Promise<CallStart | null> {
    const call = await this.#calls.get(decisionId, time);
    if (call === undefined) throw unknownDecision(decisionId);
    return this.#calls.startOf(call, time);
  }

  /** Whether the call was begun before this gate was opened. */
  isBeforeOpening({ position }: CallStart): boolean {
    return this.#calls.isBeforeOpening(position);
  }

  /** As `startOf`, from memory alone; undefined if memory does not have the call. */
  findRecentStart(decisionId: string): CallStart | null | undefined {
    return this.#calls.findRecent(decisionId)?.start;
  }

  /** The call, with its terminal decision. */
  async #decided(
    decisionId: string,
    options: WaitOptions,
  ): Promise<{ readonly call: JournaledCall; readonly event: DecisionEvent }> {
    // Waiting begins before the search, so that no decision in between is missed.
    const wait = this.#decisions.begin(decisionId, options);
    try {
      const call = await this.#calls.get(decisionId, wait);
      const event = call === undefined ? undefined : await this.#calls.decisionOf(call, wait);
      if (call === undefined) throw unknownDecision(decisionId);
      // If the record of a waiting hold is gone, only the latest outcome is available.
      const isHeld = (event ?? { type: this.#calls.latest(call).outcome }).type === "held";
      if (event === undefined && !isHeld) throw unknownDecision(decisionId);
      if (event !== undefined && !isHeld) return { call, event };
      const decided = await wait.ended();
      return { call: this.#calls.latest(call), event: decided };
    } finally {
      wait.end();
    }
  }
}

function terminalDecisions(events: readonly GateEvent[]) {
  return events.flatMap((event) =>
    event.type === "allowed" || event.type === "refused"
      ? [[event.decisionId, event] as const]
      : [],
  );
}

function noResult(decisionId: string): CallgateError {
  return new CallgateError(
    "invalid_input",
    `\`${decisionId}\` was refused: it does not run, and has no result`,
  );
}
