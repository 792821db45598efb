/**
 * Reads the inputs of one partition ahead from three topics and merges them into one sequence: the
 * lowest append time first, and results before verdicts before proposals where times are equal.
 * From it come batches in which no conversation and no tenant takes more than its share while
 * others wait.
 *
 * QUEUE-1 nothing is given out while another topic may still hold something older: a topic whose
 *    read was cut off by a limit is read on before anything after its last record is given out.
 */

import {
  type DecidedAhead,
  endOfDecided,
  isDecided,
  NOTHING_AHEAD,
  passDecided,
} from "./decided-ahead.ts";
import { FairShares, type Sender } from "./fair-shares.ts";
import type {
  Codec,
  Log,
  LogRecord,
  ProposalAuthority,
  ReadLimits,
  WaitPosition,
} from "./ports.ts";
import type { FetchedInput } from "./process-batch.ts";
import { INPUT_TOPICS, type InputTopic, NO_POSITION, type PerInput } from "./topics.ts";

type Waiting = FetchedInput & { readonly sender: Sender; isTaken: boolean };

type Buffered = {
  /** In order; those before `at` are taken, of the others some may be. */
  waiting: Waiting[];
  at: number;
  /** Those before it are in the merged sequence. */
  mergedTo: number;
  nextOffset: number;
  /** The last read reached the log's end. */
  atEnd: boolean;
  /** The offset after the last input that is decided or in the present batch. */
  takenTo: number;
};

/**
 * What is read ahead at most while a few senders have more inputs than their shares: whoever waits
 * further behind waits longer.
 */
const WINDOW: ReadLimits = { recordsMax: 32_768, bytesMax: 16 * 1024 * 1024 };

const TIE_ORDER: readonly InputTopic[] = ["results", "verdicts", "proposals"];
/** The progress of a partition, which each input changes, has at most about so many ranges. */
const AHEAD_RANGES_MAX = 4_096;
/** Taken inputs are dropped from a buffer once there are so many. */
const TAKEN_MAX = 1_024;

export class InputQueue {
  readonly #log: Log;
  readonly #partition: number;
  readonly #limits: ReadLimits;
  readonly #window: ReadLimits;
  #shares: FairShares;
  #ahead: DecidedAhead = NOTHING_AHEAD;
  #next: PerInput = NO_POSITION;
  #buffers: Record<InputTopic, Buffered>;
  /** The inputs of all topics, as far as they can be given out; those before `#mergedAt` are taken. */
  #merged: Waiting[] = [];
  #mergedAt = 0;
  #batch: readonly Waiting[] = [];
  #batchAt = 0;
  #size = 0;
  #bytes = 0;

  /** @param limits of each topic and batch. */
  constructor(log: Log, partition: number, limits: ReadLimits, window: ReadLimits = WINDOW) {
    this.#log = log;
    this.#window = window;
    this.#partition = partition;
    this.#limits = limits;
    this.#shares = new FairShares(limits.recordsMax);
    this.#buffers = this.#emptyBuffers();
  }

  /** Drops what was read ahead and starts again after what is decided. */
  reset({ next, ahead }: { readonly next: PerInput; readonly ahead: DecidedAhead }): void {
    this.#shares = new FairShares(this.#limits.recordsMax);
    this.#next = next;
    this.#ahead = ahead;
    this.#buffers = this.#emptyBuffers();
    this.#merged = [];
    this.#mergedAt = 0;
    this.#batch = [];
    this.#batchAt = 0;
    this.#size = 0;
    this.#bytes = 0;
  }

  /**
   * Reads each topic on, up to the limits, and further while the inputs of a few senders are all
   * that was read.
   */
  async fill(): Promise<void> {
    const { recordsMax } = this.#limits;
    for (const topic of INPUT_TOPICS) {
      const { waiting, at } = this.#buffers[topic];
      await this.#readOn(topic, recordsMax - (waiting.length - at));
    }
    this.#merge();
    while (this.#seesFewSenders()) {
      let hasRead = false;
      for (const topic of INPUT_TOPICS) {
        if (this.#buffers[topic].atEnd) continue;
        if (await this.#readOn(topic, recordsMax)) hasRead = true;
      }
      this.#merge();
      if (!hasRead) return;
    }
  }

  #seesFewSenders(): boolean {
    const { recordsMax } = this.#limits;
    if (this.#size < recordsMax || this.#size >= this.#window.recordsMax) return false;
    return this.#bytes < this.#window.bytesMax && this.#shares.fitting < recordsMax;
  }

  /** Returns whether there were inputs. */
  async #readOn(topic: InputTopic, recordsMax: number): Promise<boolean> {
    const buffer = this.#buffers[topic];
    if (recordsMax <= 0) {
      buffer.atEnd = false;
      return false;
    }
    const limits = { recordsMax, bytesMax: this.#limits.bytesMax };
    const read = await this.#log.read(topic, this.#partition, buffer.nextOffset, limits);
    buffer.atEnd = read.nextOffset >= read.endOffset;
    buffer.nextOffset = read.nextOffset;
    for (const record of read.records) this.#add(topic, buffer, record);
    return read.records.length > 0;
  }

  #add(topic: InputTopic, buffer: Buffered, record: LogRecord): void {
    const { offset } = record;
    if (isDecided({ next: this.#next, ahead: this.#ahead }, topic, offset)) return;
    buffer.waiting.push({ topic, record, sender: this.#shares.add(record), isTaken: false });
    this.#size += 1;
    this.#bytes += bytesOf(record);
  }

  #merge(): void {
    for (let first = this.#firstOfTopics(); first; first = this.#firstOfTopics()) {
      this.#buffers[first.topic].mergedTo += 1;
      this.#merged.push(first);
    }
  }

  /** The next of the sequence; undefined where more must be read first, or where there is none. */
  #firstOfTopics(): Waiting | undefined {
    let first: Waiting | undefined;
    for (const topic of TIE_ORDER) {
      const { waiting, mergedTo, atEnd } = this.#buffers[topic];
      const candidate = waiting[mergedTo];
      if (candidate === undefined) {
        if (!atEnd) return undefined;
        continue;
      }
      const atMs = candidate.record.appendTimeMs;
      if (first === undefined || atMs < first.record.appendTimeMs) first = candidate;
    }
    return first;
  }

  /**
   * Chooses the inputs of a batch: in the order of the sequence those within the shares of their
   * senders, then those that were passed over.
   *
   * @param ahead what is decided ahead: where it is in too many pieces, the order is kept.
   */
  arrange(inputsMax: number, ahead: DecidedAhead): void {
    this.#shares.beginBatch();
    this.#dropTaken();
    const isFair = INPUT_TOPICS.every((topic) => ahead[topic].length < AHEAD_RANGES_MAX);
    const batch: Waiting[] = [];
    const passedOver: Waiting[] = [];
    for (let at = this.#mergedAt; batch.length < inputsMax; at += 1) {
      const waiting = this.#merged[at];
      if (waiting === undefined) break;
      if (waiting.isTaken) continue;
      if (!isFair || this.#shares.admit(waiting.sender)) batch.push(waiting);
      else if (passedOver.length < inputsMax) passedOver.push(waiting);
    }
    this.#batch = [...batch, ...passedOver.slice(0, inputsMax - batch.length)];
    this.#batchAt = 0;
  }

  #dropTaken(): void {
    while (this.#merged[this.#mergedAt]?.isTaken === true) this.#mergedAt += 1;
    if (this.#mergedAt < TAKEN_MAX) return;
    this.#merged = this.#merged.slice(this.#mergedAt);
    this.#mergedAt = 0;
  }

  /** The next input of the batch; undefined at its end. */
  peek(): FetchedInput | undefined {
    return this.#batch[this.#batchAt];
  }

  /** Inputs of the batch that are not taken. */
  readAhead(): readonly FetchedInput[] {
    return this.#batch.slice(this.#batchAt);
  }

  /**
   * Removes the input that `peek` returned. Returns the offset of its topic to read next once it is
   * decided: every input before that offset is.
   */
  take(): number {
    const input = this.#batch[this.#batchAt];
    if (input === undefined) throw new RangeError("the batch has no further input");
    this.#batchAt += 1;
    const { topic, record, sender } = input;
    input.isTaken = true;
    this.#shares.remove(sender);
    this.#size -= 1;
    this.#bytes -= bytesOf(record);
    return this.#advance(topic, record.offset);
  }

  #advance(topic: InputTopic, offset: number): number {
    const buffer = this.#buffers[topic];
    const { waiting } = buffer;
    buffer.takenTo = Math.max(buffer.takenTo, offset + 1);
    while (waiting[buffer.at]?.isTaken === true) buffer.at += 1;
    const first = waiting[buffer.at];
    if (buffer.at >= TAKEN_MAX) {
      buffer.waiting = waiting.slice(buffer.at);
      buffer.mergedTo -= buffer.at;
      buffer.at = 0;
    }
    if (first !== undefined) return Math.min(first.record.offset, buffer.takenTo);
    // What is not read yet may have been decided in part before a restart.
    const decided = { next: this.#next, ahead: this.#ahead };
    return Math.min(passDecided(decided, topic, buffer.nextOffset), buffer.takenTo);
  }

  /** The positions at which new inputs will appear. */
  ends(): readonly WaitPosition[] {
    return INPUT_TOPICS.map((topic) => ({
      topic,
      partition: this.#partition,
      offset: this.#buffers[topic].nextOffset,
    }));
  }

  /** Inputs that were read and not taken. */
  get size(): number {
    return this.#size;
  }

  #emptyBuffers(): Record<InputTopic, Buffered> {
    const progress = { next: this.#next, ahead: this.#ahead };
    const empty = (topic: InputTopic): Buffered => ({
      ...{ waiting: [], at: 0, mergedTo: 0, atEnd: false },
      nextOffset: this.#next[topic],
      takenTo: endOfDecided(progress, topic),
    });
    return {
      proposals: empty("proposals"),
      results: empty("results"),
      verdicts: empty("verdicts"),
    };
  }
}

function bytesOf({ key, value }: LogRecord): number {
  return (key?.length ?? 0) + (value?.length ?? 0);
}

type Waits = {
  readonly codec: Pick<Codec, "pending">;
  readonly authority?: ProposalAuthority | undefined;
};

/**
 * Resolves when the schema of an input, and the keys for its proposal, are loaded; null: the input
 * can be judged now. Asking again is cheap.
 */
export function pendingOf(
  { codec, authority }: Waits,
  input: FetchedInput | undefined,
): Promise<void> | null {
  if (input === undefined) return null;
  const decodable = codec.pending?.(input.record.value) ?? null;
  if (decodable !== null || authority === undefined || input.topic !== "proposals") {
    return decodable;
  }
  return authority.pending(input.record);
}

/**
 * Verifies all proposals of a batch at once: waiting for each separately would make batches of one.
 */
export async function verifyAhead(
  authority: ProposalAuthority | undefined,
  queue: InputQueue,
): Promise<void> {
  if (authority === undefined) return;
  const waits: Promise<void>[] = [];
  for (const { topic, record } of queue.readAhead()) {
    const pending = topic === "proposals" ? authority.pending(record) : null;
    if (pending !== null) waits.push(pending);
  }
  if (waits.length > 0) await Promise.all(waits);
}
