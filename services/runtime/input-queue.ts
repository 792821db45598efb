/**
 * Reads the inputs of one partition ahead from three topics and merges them into one sequence: the
 * lowest append time first, and results before verdicts before proposals where times are equal.
 *
 * QUEUE-1 nothing is given out while another topic may still hold something older: a topic whose
 *    read was cut off by a limit is read on before anything after its last record is given out.
 */
import type {
  Codec,
  Log,
  LogRecord,
  ProposalAuthority,
  ReadLimits,
  WaitPosition,
} from "./ports.ts";
import type { FetchedInput } from "./process-batch.ts";
import { INPUT_TOPICS, type InputTopic, type PerInput } from "./topics.ts";

type Buffered = {
  records: readonly LogRecord[];
  at: number;
  nextOffset: number;
  /** The last read reached the log's end. */
  atEnd: boolean;
};

const TIE_ORDER: readonly InputTopic[] = ["results", "verdicts", "proposals"];

export class InputQueue {
  readonly #log: Log;
  readonly #partition: number;
  readonly #limits: ReadLimits;
  #buffers: Record<InputTopic, Buffered>;

  constructor(log: Log, partition: number, limits: ReadLimits) {
    this.#log = log;
    this.#partition = partition;
    this.#limits = limits;
    this.#buffers = buffersAt({ proposals: 0, results: 0, verdicts: 0 });
  }

  /** Drops what was read ahead and starts again at these offsets. */
  reset(next: PerInput): void {
    this.#buffers = buffersAt(next);
  }

  /** Reads each topic on, up to the limits. */
  async fill(): Promise<void> {
    for (const topic of INPUT_TOPICS) {
      const buffer = this.#buffers[topic];
      const left = buffer.records.length - buffer.at;
      const recordsMax = this.#limits.recordsMax - left;
      if (recordsMax <= 0) continue;
      const { records, nextOffset, endOffset } = await this.#log.read(
        topic,
        this.#partition,
        buffer.nextOffset,
        { recordsMax, bytesMax: this.#limits.bytesMax },
      );
      buffer.atEnd = nextOffset >= endOffset;
      buffer.nextOffset = nextOffset;
      if (records.length === 0) continue;
      buffer.records = left === 0 ? records : [...buffer.records.slice(buffer.at), ...records];
      buffer.at = 0;
    }
  }

  /** The next input; undefined where more must be read first, or where there is none. */
  peek(): FetchedInput | undefined {
    let first: FetchedInput | undefined;
    for (const topic of TIE_ORDER) {
      const buffer = this.#buffers[topic];
      const record = buffer.records[buffer.at];
      if (record === undefined) {
        if (!buffer.atEnd) return undefined;
        continue;
      }
      if (first === undefined || record.appendTimeMs < first.record.appendTimeMs) {
        first = { topic, record };
      }
    }
    return first;
  }

  /** Removes the input that `peek` returned. */
  take({ topic }: FetchedInput): void {
    this.#buffers[topic].at += 1;
  }

  /** Records of a topic that were read and not taken. */
  readAhead(topic: InputTopic): readonly LogRecord[] {
    const { records, at } = this.#buffers[topic];
    return at === 0 ? records : records.slice(at);
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
    let size = 0;
    for (const topic of INPUT_TOPICS) {
      size += this.#buffers[topic].records.length - this.#buffers[topic].at;
    }
    return size;
  }
}

function buffersAt(next: PerInput): Record<InputTopic, Buffered> {
  const at = (nextOffset: number): Buffered => ({ records: [], at: 0, nextOffset, atEnd: false });
  return {
    proposals: at(next.proposals),
    results: at(next.results),
    verdicts: at(next.verdicts),
  };
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
 * Verifies all proposals that were read at once: waiting for each separately would make batches of
 * one.
 */
export async function verifyAhead(
  authority: ProposalAuthority | undefined,
  queue: InputQueue,
): Promise<void> {
  if (authority === undefined) return;
  const waits: Promise<void>[] = [];
  for (const record of queue.readAhead("proposals")) {
    const pending = authority.pending(record);
    if (pending !== null) waits.push(pending);
  }
  if (waits.length > 0) await Promise.all(waits);
}
