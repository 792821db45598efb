import { RetryableError } from "../runtime/errors.ts";
import type { Log, OutgoingRecord, PartitionWriter } from "../runtime/ports.ts";
import { NO_POSITION } from "../runtime/topics.ts";

/** The right to say that a call starts: whoever has lost the partition can say so no more. */
export interface Claims {
  /** @throws FencedError: another executor has the partition; RetryableError: not known, or not now. */
  write(record: OutgoingRecord): Promise<void>;
  close(): Promise<void>;
}

/** For a log that no other executor follows. */
export function unfencedClaims(log: Log): Claims {
  return {
    write: async (record) => {
      await log.append([record]);
    },
    close: async () => undefined,
  };
}

const RECORDS_MAX = 500;

type Waiting = {
  readonly record: OutgoingRecord;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

/** One commit at a time; what comes meanwhile goes into the next one together. */
export class FencedClaims implements Claims {
  readonly #writer: PartitionWriter;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | null = null;
  /** After an outcome that is not known the writer is of no use any more. */
  #broken: unknown = null;

  constructor(writer: PartitionWriter) {
    this.#writer = writer;
  }

  write(record: OutgoingRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ record, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#writer.close();
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, RECORDS_MAX);
      try {
        await this.#commit(batch.map(({ record }) => record));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#broken ??= error;
        for (const { reject } of batch) reject(error);
      }
    }
    this.#writing = null;
  }

  async #commit(records: readonly OutgoingRecord[]): Promise<void> {
    if (this.#broken !== null) throw this.#broken;
    const outcome = await this.#writer.commit({ records, consumed: NO_POSITION });
    if (outcome.type === "committed") return;
    const code = outcome.type === "unknown" ? "outcome_unknown" : "log_unavailable";
    throw new RetryableError(code, `a start could not be written: ${outcome.error.message}`, {
      cause: outcome.error,
    });
  }
}
