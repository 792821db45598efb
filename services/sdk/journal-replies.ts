/**
 * From an input that this process appended to the journal record it became.
 *
 * R1 an answer comes from the journal alone: what is answered is durable.
 * R2 each `send` ends: with its record, or with an error when its time is over or the gate is gone.
 */
import type { CommittedRecord } from "../runtime/journal.ts";
import type { Log, OutgoingRecord } from "../runtime/ports.ts";
import type { InputTopic } from "../runtime/topics.ts";
import { asCallgateError, CallgateError } from "./callgate-error.ts";
import { KeepAlive } from "./keep-alive.ts";

/** More than a batch can hold; beyond it the oldest are of inputs that nobody here waits for. */
const EARLY_MAX = 2_000;

type Waiter = {
  readonly deadlineMs: number;
  readonly resolve: (record: CommittedRecord) => void;
  readonly reject: (error: CallgateError) => void;
};

export type OutgoingInput = OutgoingRecord & { readonly topic: InputTopic };

export class JournalReplies {
  readonly #log: Log;
  readonly #timeoutMs: number;
  readonly #waiters = new Map<string, Waiter>();
  /** Records of inputs whose append has not returned yet: the gate may be faster than our own append. */
  readonly #early = new Map<string, CommittedRecord>();
  readonly #alive = new KeepAlive(() => this.#expire());
  #waiting = 0;
  #ended: CallgateError | undefined;
  #drained: (() => void)[] = [];

  constructor(log: Log, timeoutMs: number) {
    this.#log = log;
    this.#timeoutMs = timeoutMs;
  }

  /** @throws CallgateError: not appended, no answer in time, or the gate was closed. */
  async send(input: OutgoingInput): Promise<CommittedRecord> {
    if (this.#ended !== undefined) throw this.#ended;
    this.#alive.begin();
    this.#waiting += 1;
    try {
      const offset = await this.#append(input);
      return await this.#answer(keyOf(input.topic, input.partition, offset));
    } finally {
      this.#alive.end();
      this.#waiting -= 1;
      if (this.#waiting === 0) {
        this.#early.clear();
        for (const drained of this.#drained.splice(0)) drained();
      }
    }
  }

  /** To be called with everything that the gate commits. */
  committed(records: readonly CommittedRecord[]): void {
    if (this.#waiting === 0) return;
    for (const committed of records) {
      const { input } = committed.record;
      if (input.type === "idle") continue;
      const key = keyOf(input.at.topic, input.at.partition, input.at.offset);
      const waiter = this.#waiters.get(key);
      if (waiter === undefined) {
        this.#keepEarly(key, committed);
      } else {
        this.#waiters.delete(key);
        waiter.resolve(committed);
      }
    }
  }

  /** Resolves when everything sent so far is answered or has failed. */
  async drained(): Promise<void> {
    if (this.#waiting === 0) return;
    await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  /** Nothing more will be committed: whoever waits gets the error, and so does who sends from now on. */
  end(error: CallgateError): void {
    this.#ended ??= error;
    for (const waiter of this.#waiters.values()) waiter.reject(error);
    this.#waiters.clear();
  }

  #keepEarly(key: string, committed: CommittedRecord): void {
    this.#early.set(key, committed);
    if (this.#early.size <= EARLY_MAX) return;
    for (const oldest of this.#early.keys()) {
      this.#early.delete(oldest);
      return;
    }
  }

  async #append(input: OutgoingInput): Promise<number> {
    try {
      const [appended] = await this.#log.append([input]);
      if (appended === undefined) throw new CallgateError("storage_unavailable", NOT_ACKNOWLEDGED);
      return appended.offset;
    } catch (error) {
      throw asCallgateError(error);
    }
  }

  #answer(key: string): Promise<CommittedRecord> {
    const early = this.#early.get(key);
    if (early !== undefined) {
      this.#early.delete(key);
      return Promise.resolve(early);
    }
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const deadlineMs = Date.now() + this.#timeoutMs;
    return new Promise((resolve, reject) => {
      this.#waiters.set(key, { deadlineMs, resolve, reject });
    });
  }

  /** Waiters stand in the order of their deadlines: all wait for the same time. */
  #expire(): void {
    const nowMs = Date.now();
    for (const [key, waiter] of this.#waiters) {
      if (waiter.deadlineMs > nowMs) return;
      this.#waiters.delete(key);
      waiter.reject(
        new CallgateError("timeout", `the gate gave no answer in ${this.#timeoutMs} ms`),
      );
    }
  }
}

const NOT_ACKNOWLEDGED = "the log took a record and did not say where it is";

function keyOf(topic: InputTopic, partition: number, offset: number): string {
  return `${topic}/${partition}/${offset}`;
}
