import type { ResultInput } from "../core/inputs.ts";
import { LIMITS } from "../core/limits.ts";
import { LapseIndex } from "../runtime/lapse-index.ts";
import type { Clock, Codec, Log, Logger, Ownership } from "../runtime/ports.ts";
import { type Claims, FencedClaims, unfencedClaims } from "./claims.ts";
import { type ReportsByCall, readResults } from "./read-results.ts";

/** Calls that were allowed earlier are not begun any more. */
export const LOOK_BACK_MS = LIMITS.startWithinMsMax;

export type TakeOverParts = {
  readonly log: Log;
  readonly codec: Pick<Codec, "decodeInput" | "pending">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly partition: number;
  /** Fences the previous executors; null: there are no others. */
  readonly ownership: Ownership | null;
};

/** The state that a take-over reads, and the writer that it opens. */
export type Run = {
  readonly claims: Claims;
  /** Started by previous executors; shrinks as each is reported. */
  readonly open: Map<string, ResultInput>;
  /** Must not run. */
  readonly settled: SettledDecisions;
  /** Reports on calls that were already in hand. */
  readonly reports: ReportsByCall;
  /** Aborts when this run is over, with the reason. */
  readonly over: AbortController;
};

type InHand = {
  readonly has: (decisionId: string) => boolean;
  /** No report on these calls is older. */
  readonly sinceMs: number;
};

/** Takes over from the previous executor of the partition. */
export async function takeOver(parts: TakeOverParts, inHand: InHand): Promise<Run> {
  const { log, codec, clock, logger, partition, ownership } = parts;
  // Only after the fence are the results complete as to the previous executor.
  const claims =
    ownership === null
      ? unfencedClaims(log)
      : new FencedClaims(await ownership.takeOver(partition));
  try {
    const sinceMs = Math.min(clock.nowMs() - LOOK_BACK_MS, inHand.sinceMs);
    const read = { log, codec, partition, sinceMs };
    const { open, reportedIds, lastMs, reports } = await readResults(read, inHand.has);
    logger.info("allowed calls were taken over", { partition, open: open.size });
    return {
      ...{ claims, reports, open: new Map(open), over: new AbortController() },
      // A call is allowed before anything is reported about it.
      settled: new SettledDecisions(reportedIds, lastMs + LOOK_BACK_MS),
    };
  } catch (error) {
    await claims.close().catch(() => undefined);
    throw error;
  }
}

/**
 * Decisions that must not run (again), each remembered for as long as its call might be begun. If
 * the record is read later than that, the call's own time limit stops it.
 */
export class SettledDecisions {
  /**
   * Results do not say how long a call might be begun, so these stay until the call's own record is
   * read, or for the longest possible time.
   */
  readonly #reported: Set<string>;
  readonly #reportedUntilMs: number;
  readonly #untilMs = new Map<string, number>();
  readonly #spans = new LapseIndex();

  constructor(reported: Iterable<string>, reportedUntilMs: number) {
    this.#reported = new Set(reported);
    this.#reportedUntilMs = reportedUntilMs;
  }

  /** Number of remembered decisions. */
  get size(): number {
    return this.#reported.size + this.#untilMs.size;
  }

  add(decisionId: string, notAfterMs: number): void {
    this.#untilMs.set(decisionId, notAfterMs);
    this.#spans.add(decisionId, notAfterMs);
  }

  /** Whether a call must not run; called when the call's record is read. */
  recall(decisionId: string, notAfterMs: number): boolean {
    if (this.#reported.delete(decisionId)) this.add(decisionId, notAfterMs);
    return this.#untilMs.has(decisionId);
  }

  /** Forgets calls that nobody begins any more: some of them early, later all. */
  forget(nowMs: number): void {
    if (nowMs > this.#reportedUntilMs) this.#reported.clear();
    this.#spans.forget(nowMs, (decisionId) => {
      const untilMs = this.#untilMs.get(decisionId);
      if (untilMs !== undefined && untilMs >= nowMs) return untilMs;
      this.#untilMs.delete(decisionId);
      return undefined;
    });
  }
}
