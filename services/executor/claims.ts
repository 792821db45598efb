import { classify, FencedError, RetryableError } from "../runtime/errors.ts";
import type { Log, OutgoingRecord, PartitionWriter } from "../runtime/ports.ts";
import { NO_POSITION } from "../runtime/topics.ts";

/**
 * The right to record that a call starts; an executor that has lost the partition can no longer do
 * so.
 */
export interface Claims {
  /** @throws FencedError: another executor has the partition; RetryableError, see `mayBeWritten`. */
  write(record: OutgoingRecord): Promise<void>;
  close(): Promise<void>;
}

/** Whether a record may be in the log although writing it threw this error. */
export function mayBeWritten(error: unknown): boolean {
  const isRefused = error instanceof RetryableError && error.code === "log_unavailable";
  return !isRefused && !(error instanceof FencedError);
}

/** For a log that no other executor follows. */
export function unfencedClaims(log: Log): Claims {
  return {
    write: async (record) => {
      try {
        await log.append([record]);
      } catch (error) {
        throw classify(error) === "retry" ? notWritten("outcome_unknown", error) : error;
      }
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

/** Commits one batch at a time; claims that arrive during a commit share the next one. */
export class FencedClaims implements Claims {
  readonly #writer: PartitionWriter;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | null = null;
  /** Set after a commit with an unknown outcome, which makes the writer unusable. */
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
    if (this.#broken !== null) throw asNeverSent(this.#broken);
    const outcome = await this.#writer.commit({ records, consumed: NO_POSITION });
    if (outcome.type === "committed") return;
    const code = outcome.type === "unknown" ? "outcome_unknown" : "log_unavailable";
    throw notWritten(code, outcome.error);
  }
}

function notWritten(code: "outcome_unknown" | "log_unavailable", cause: unknown): RetryableError {
  const why = cause instanceof Error ? cause.message : "no answer came";
  return new RetryableError(code, `a start could not be written: ${why}`, { cause });
}

/**
 * This claim was never sent, because an earlier one broke the writer: it is certainly not in the
 * log.
 */
function asNeverSent(broken: unknown): unknown {
  if (!(broken instanceof RetryableError)) return broken;
  return new RetryableError("log_unavailable", broken.message, { cause: broken });
}
