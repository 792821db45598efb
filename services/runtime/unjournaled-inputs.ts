/**
 * Finds inputs that have no journal record: those in an input topic between two inputs that are
 * journaled. Reads each topic once, in step with the journal.
 */
import { type DecidedAhead, isDecided } from "./decided-ahead.ts";
import { FatalError } from "./errors.ts";
import type { Log } from "./ports.ts";
import type { InputTopic, PerInput } from "./topics.ts";

const READ_LIMITS = { recordsMax: 1_000, bytesMax: 1024 * 1024 };

/**
 * How far a topic was read: offsets that were read and not compared yet, and the offset to read
 * next.
 */
type Cursor = { offsets: readonly number[]; at: number; next: number };

export class UnjournaledInputs {
  readonly #log: Log;
  readonly #partition: number;
  readonly #cursors = new Map<InputTopic, Cursor>();
  #compared = 0;
  #problem: string | null = null;

  constructor(log: Log, partition: number) {
    this.#log = log;
    this.#partition = partition;
  }

  /** Number of journaled inputs that are still in their topic. */
  get compared(): number {
    return this.#compared;
  }

  /**
   * Why no further inputs are compared: an auditor of a journal may have no right to read its
   * inputs. Null: no problem.
   */
  get problem(): string | null {
    return this.#problem;
  }

  /**
   * Offsets of inputs that are in the topic and have no journal record, up to the offset to read
   * next after the present record.
   *
   * @param progress of the previous journal record, with the present input.
   * @throws RetryableError where the log does not answer.
   */
  async findSkipped(
    topic: InputTopic,
    progress: { readonly next: PerInput; readonly ahead: DecidedAhead },
    end: number,
  ): Promise<readonly number[]> {
    if (this.#problem !== null) return [];
    try {
      return await this.#compare(topic, progress, end);
    } catch (error) {
      if (!(error instanceof FatalError)) throw error;
      this.#problem = error.message;
      return [];
    }
  }

  async #compare(
    topic: InputTopic,
    progress: { readonly next: PerInput; readonly ahead: DecidedAhead },
    end: number,
  ): Promise<readonly number[]> {
    const cursor = this.#cursors.get(topic) ?? (await this.#open(topic, progress.next[topic]));
    const skipped: number[] = [];
    for (;;) {
      const offset = cursor.offsets[cursor.at];
      if (offset === undefined) {
        if (cursor.next >= end || !(await this.#fill(topic, cursor))) return skipped;
        continue;
      }
      if (offset >= end) return skipped;
      cursor.at += 1;
      if (isDecided(progress, topic, offset)) this.#compared += 1;
      else skipped.push(offset);
    }
  }

  async #open(topic: InputTopic, from: number): Promise<Cursor> {
    const start = await this.#log.startOffset(topic, this.#partition);
    const cursor = { offsets: [], at: 0, next: Math.max(from, start) };
    this.#cursors.set(topic, cursor);
    return cursor;
  }

  /** False at the end of the topic: the journaled input is gone, or is in another cluster. */
  async #fill(topic: InputTopic, cursor: Cursor): Promise<boolean> {
    const read = await this.#log.read(topic, this.#partition, cursor.next, READ_LIMITS);
    cursor.offsets = read.records.map(({ offset }) => offset);
    cursor.at = 0;
    const isFurther = read.nextOffset > cursor.next;
    cursor.next = Math.max(cursor.next, read.nextOffset);
    return isFurther;
  }
}
