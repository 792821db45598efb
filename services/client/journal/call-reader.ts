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
    (id) => `nobody reported what came of \`${id}\``,
  );

  constructor(calls: JournalCalls) {
    this.#calls = calls;
  }

  /** To be called with everything that the gate commits, once `JournalCalls` knows of it. */
  committed(records: readonly CommittedRecord[]): void {
    this.#decisions.committed(records);
    this.#results.committed(records);
  }

  /** Nothing more will be committed: whoever waits gets the error. */
  end(error: CallgateError): void {
    this.#decisions.end(error);
    this.#results.end(error);
  }

  /**
   * The terminal decision: at once where there is one, else when the hold ends.
   *
   * @throws CallgateError `unknown_decision`, `timeout`, `closed`; the signal's reason.
   */
  async awaitDecision(decisionId: string, options: WaitOptions): Promise<DecisionEvent> {
    return (await this.#decided(decisionId, options)).event;
  }

  /**
   * How an allowed call ended: at once where that is journaled, else when it is. `unknown` where nobody
   * told within its time. Of a held call: waits for its decision before.
   *
   * @throws CallgateError as `awaitDecision`; `invalid_input` where the call was refused.
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

  /** How the call ended; undefined where the journal does not tell, or knows no such call. @throws `timeout` */
  async endOf(decisionId: string, time: Deadline): Promise<EndedCall | undefined> {
    const call = await this.#calls.get(decisionId, time);
    return call === undefined ? undefined : this.#calls.endOf(call, time);
  }

  /** Who has begun the call; null where nobody has. @throws `unknown_decision`, `timeout` */
  async startOf(decisionId: string, time: Deadline): Promise<CallStart | null> {
    const call = await this.#calls.get(decisionId, time);
    if (call === undefined) throw unknownDecision(decisionId);
    return this.#calls.startOf(call, time);
  }

  /** Whether the call was begun before this gate was opened. */
  isBeforeOpening({ position }: CallStart): boolean {
    return this.#calls.isBeforeOpening(position);
  }

  /** As `startOf`, from memory alone; undefined: it is not there. */
  findRecentStart(decisionId: string): CallStart | null | undefined {
    return this.#calls.findRecent(decisionId)?.start;
  }

  /** The call, and what was decided of it in the end. */
  async #decided(
    decisionId: string,
    options: WaitOptions,
  ): Promise<{ readonly call: JournaledCall; readonly event: DecisionEvent }> {
    // Waiting begins before looking: what is decided meanwhile must not be missed.
    const wait = this.#decisions.begin(decisionId, options);
    try {
      const call = await this.#calls.get(decisionId, wait);
      const event = call === undefined ? undefined : await this.#calls.decisionOf(call, wait);
      if (call === undefined) throw unknownDecision(decisionId);
      // Of a hold that waits nothing else is known where its record is gone.
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
