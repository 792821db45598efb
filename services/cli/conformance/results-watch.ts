/** Follows the results topic, and remembers what was reported on each call. */
import type { ResultStatus } from "../../core/inputs.ts";
import type { Log } from "../../runtime/ports.ts";
import type { AvroCodec } from "../../wire/codec.ts";

export type SeenReport = {
  readonly status: ResultStatus;
  readonly effect: string | null;
  readonly output: string | null;
  readonly executorId: string | null;
  readonly partition: number;
  readonly key: string;
};

/** What the suite itself writes to see that it is skipped. */
export const UNREADABLE = Buffer.from("not a record");

const READ_LIMITS = { recordsMax: 1_000, bytesMax: 4 * 1024 * 1024 };
const WAIT_MS = 10_000;
const RETRY_MS = 250;

export class ResultsWatch {
  readonly #log: Log;
  readonly #codec: Pick<AvroCodec, "decodeInput" | "pending">;
  readonly #reports = new Map<string, SeenReport[]>();
  readonly #unreadable: string[] = [];
  readonly #closing = new AbortController();

  constructor(log: Log, codec: Pick<AvroCodec, "decodeInput" | "pending">) {
    this.#log = log;
    this.#codec = codec;
    for (let partition = 0; partition < log.partitions; partition += 1) void this.#live(partition);
  }

  /** The reports on a call, in order. */
  of(decisionId: string): readonly SeenReport[] {
    return this.#reports.get(decisionId) ?? [];
  }

  /** Why results could not be read. */
  get unreadable(): readonly string[] {
    return this.#unreadable;
  }

  close(): void {
    this.#closing.abort();
  }

  async #live(partition: number): Promise<void> {
    const { signal } = this.#closing;
    for (let offset = 0; !signal.aborted; ) {
      try {
        const { records, nextOffset } = await this.#log.read(
          "results",
          partition,
          offset,
          READ_LIMITS,
        );
        for (const { key, value } of records) await this.#note(partition, key, value);
        offset = nextOffset;
        if (records.length > 0) continue;
        await this.#log.waitForNew([{ topic: "results", partition, offset }], WAIT_MS, signal);
      } catch {
        // The broker may not answer for a while.
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async #note(partition: number, key: Uint8Array | null, value: Uint8Array | null): Promise<void> {
    if (value !== null && UNREADABLE.equals(value)) return;
    await this.#codec.pending?.(value);
    const decoded = this.#codec.decodeInput("results", value);
    if (!decoded.ok || decoded.input.type !== "result") {
      this.#unreadable.push(decoded.ok ? "no result" : decoded.message);
      return;
    }
    const { decisionId, status, effect = null, output, executorId = null } = decoded.input;
    const text = key === null ? "" : Buffer.from(key).toString("utf8");
    const report = { status, effect, output, executorId, partition, key: text };
    this.#reports.set(decisionId, [...this.of(decisionId), report]);
  }
}
