/**
 * Matches each input that this process appends to the journal record that it became.
 *
 * REPLY-1 an answer comes only from the journal: every answer is durable.
 * REPLY-2 each `send` ends within its time, with its record or with an error, even if the log does
 *   not answer. An input that ends late may have been written, and is abandoned.
 */

import { PoisonRecordError } from "../../runtime/errors.ts";
import type { CommittedRecord } from "../../runtime/journal.ts";
import type { Appended, Log, OutgoingRecord } from "../../runtime/ports.ts";
import { INPUT_TOPICS, type InputTopic } from "../../runtime/topics.ts";
import { asCallgateError, CallgateError } from "../api/callgate-error.ts";
import { KeepAlive } from "../keep-alive.ts";

/** More than a batch can hold; the oldest beyond it belong to inputs that nobody here waits for. */
const EARLY_MAX = 2_000;

type Waiter = {
  /** Time limit of the request, by the system clock. */
  readonly deadlineMs: number;
  /** Position in the log (`#positionOf`); null until the log reports it. */
  position: number | null;
  readonly resolve: (record: CommittedRecord) => void;
  readonly reject: (error: CallgateError) => void;
};

export type OutgoingInput = OutgoingRecord & { readonly topic: InputTopic };

export type ReplyOptions = {
  readonly timeoutMs: number;
  /**
   * Appends the inputs of one turn of the event loop in one batch, for a log that takes all or
   * none. Each append has a fixed cost, and requests of many agents arrive in the same turn.
   */
  readonly together: boolean;
};

export class JournalReplies {
  readonly #log: Log;
  readonly #timeoutMs: number;
  readonly #together: boolean;
  /** Inputs not yet appended, and their waiters. */
  #inputs: OutgoingInput[] = [];
  #senders: Waiter[] = [];
  /** Everybody who waits for an answer. */
  readonly #waiting = new Set<Waiter>();
  /** Waiters by position, once the log has reported the position of their input. */
  readonly #waiters = new Map<number, Waiter>();
  /**
   * Records of inputs whose append has not returned yet: the gate may be faster than our append.
   */
  readonly #early = new Map<number, CommittedRecord>();
  readonly #alive = new KeepAlive(() => this.#expire());
  #ended: CallgateError | undefined;
  #drained: (() => void)[] = [];

  constructor(log: Log, { timeoutMs, together }: ReplyOptions) {
    this.#log = log;
    this.#timeoutMs = timeoutMs;
    this.#together = together;
  }

  /**
   * One promise from the input to the answer, because every further promise costs time on each
   * call.
   * @param ready awaited before the append.
   * @param leftMs what is left of the time limit of the request, which may have begun earlier.
   * @throws CallgateError: not appended, no answer in time, or the gate was closed.
   */
  send(
    input: OutgoingInput,
    ready: Promise<void> | null = null,
    leftMs = this.#timeoutMs,
  ): Promise<CommittedRecord> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    this.#alive.begin();
    return new Promise((resolve, reject) => {
      const deadlineMs = Date.now() + leftMs;
      const waiter: Waiter = { deadlineMs, position: null, resolve, reject };
      this.#waiting.add(waiter);
      if (ready === null) this.#add(input, waiter);
      else this.#addOnce(ready, input, waiter);
    });
  }

  /** Skips inputs that nobody waits for any more. */
  #addOnce(ready: Promise<void>, input: OutgoingInput, waiter: Waiter): void {
    ready.then(
      () => {
        if (this.#ended !== undefined) this.#fail(waiter, this.#ended);
        else if (this.#waiting.has(waiter)) this.#add(input, waiter);
      },
      (error: unknown) => this.#fail(waiter, asCallgateError(error)),
    );
  }

  #add(input: OutgoingInput, waiter: Waiter): void {
    if (!this.#together) {
      void this.#append([input], [waiter]);
      return;
    }
    if (this.#inputs.length === 0) queueMicrotask(() => this.#appendAll());
    this.#inputs.push(input);
    this.#senders.push(waiter);
  }

  #appendAll(): void {
    const inputs = this.#inputs;
    const waiters = this.#senders;
    this.#inputs = [];
    this.#senders = [];
    void this.#append(inputs, waiters);
  }

  /** @param waiters one for each input. */
  async #append(inputs: readonly OutgoingInput[], waiters: readonly Waiter[]): Promise<void> {
    let appended: readonly Appended[];
    try {
      appended = await this.#log.append(inputs);
    } catch (error) {
      this.#refused(inputs, waiters, error);
      return;
    }
    for (let at = 0; at < inputs.length; at += 1) {
      this.#appended(inputs[at] as OutgoingInput, appended[at], waiters[at] as Waiter);
    }
  }

  /**
   * Nothing was written: an input that the log never accepts must not hold up the ones beside it.
   */
  #refused(inputs: readonly OutgoingInput[], waiters: readonly Waiter[], error: unknown): void {
    if (inputs.length > 1 && error instanceof PoisonRecordError) {
      for (let at = 0; at < inputs.length; at += 1) {
        void this.#append([inputs[at] as OutgoingInput], [waiters[at] as Waiter]);
      }
      return;
    }
    for (const waiter of waiters) this.#fail(waiter, asCallgateError(error));
  }

  #answer(waiter: Waiter, record: CommittedRecord): void {
    if (this.#isFirst(waiter)) waiter.resolve(record);
  }

  #fail(waiter: Waiter, error: CallgateError): void {
    if (this.#isFirst(waiter)) waiter.reject(error);
  }

  /** False: the waiter already has its answer. */
  #isFirst(waiter: Waiter): boolean {
    if (!this.#waiting.delete(waiter)) return false;
    if (waiter.position !== null) this.#waiters.delete(waiter.position);
    this.#alive.end();
    if (this.#waiting.size > 0) return true;
    this.#early.clear();
    for (const drained of this.#drained.splice(0)) drained();
    return true;
  }

  /** Call it with everything that the gate commits. */
  committed(records: readonly CommittedRecord[]): void {
    for (const committed of records) {
      if (this.#waiting.size === 0) return;
      const { input } = committed.record;
      if (input.type === "idle") continue;
      const position = this.#positionOf(input.at.topic, input.at.partition, input.at.offset);
      const waiter = this.#waiters.get(position);
      if (waiter === undefined) this.#keepEarly(position, committed);
      else this.#answer(waiter, committed);
    }
  }

  /** Resolves when everything sent so far is answered or has failed. */
  async drained(): Promise<void> {
    if (this.#waiting.size === 0) return;
    await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  /** Nothing more will be committed: current and later waits end with the error. */
  end(error: CallgateError): void {
    this.#ended ??= error;
    for (const waiter of [...this.#waiters.values()]) this.#fail(waiter, error);
  }

  #keepEarly(position: number, committed: CommittedRecord): void {
    this.#early.set(position, committed);
    if (this.#early.size <= EARLY_MAX) return;
    for (const oldest of this.#early.keys()) {
      this.#early.delete(oldest);
      return;
    }
  }

  #appended(input: OutgoingInput, appended: Appended | undefined, waiter: Waiter): void {
    if (appended === undefined) {
      this.#fail(waiter, new CallgateError("storage_unavailable", NOT_ACKNOWLEDGED));
      return;
    }
    const position = this.#positionOf(input.topic, input.partition, appended.offset);
    const early = this.#early.get(position);
    if (early !== undefined) {
      this.#early.delete(position);
      this.#answer(waiter, early);
    } else if (this.#ended !== undefined) {
      this.#fail(waiter, this.#ended);
    } else if (this.#waiting.has(waiter)) {
      waiter.position = position;
      this.#waiters.set(position, waiter);
    }
  }

  /** One number for a position in the log: faster to make and look up than a string. */
  #positionOf(topic: InputTopic, partition: number, offset: number): number {
    const lane = partition * INPUT_TOPICS.length + INPUT_TOPICS.indexOf(topic);
    return offset * this.#log.partitions * INPUT_TOPICS.length + lane;
  }

  #expire(): void {
    const nowMs = Date.now();
    for (const waiter of this.#waiting) {
      if (waiter.deadlineMs > nowMs) continue;
      const who = waiter.position === null ? "log" : "gate";
      const why = `the ${who} did not answer within ${this.#timeoutMs} ms`;
      this.#fail(waiter, new CallgateError("timeout", why));
    }
  }
}

const NOT_ACKNOWLEDGED = "the log appended a record and did not report its offset";
