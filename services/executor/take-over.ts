import type { ResultInput } from "../core/inputs.ts";
import { LIMITS } from "../core/limits.ts";
import type { Clock, Codec, Log, Logger, Ownership } from "../runtime/ports.ts";
import { type Claims, FencedClaims, unfencedClaims } from "./claims.ts";
import { type ReportsByCall, readResults } from "./read-results.ts";
import { SettledDecisions } from "./settled-decisions.ts";

/** Calls that were allowed longer ago are not begun any more. */
export const LOOK_BACK_MS = LIMITS.startWithinMsMax;

export type TakeOverParts = {
  readonly log: Log;
  readonly codec: Pick<Codec, "decodeInput" | "pending">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly partition: number;
  /** Fences the executors before; null: there are no others. */
  readonly ownership: Ownership | null;
};

/** What a take-over found, and what it writes by. */
export type Run = {
  readonly claims: Claims;
  /** Started by executors before us; shrinks as each is reported. */
  readonly open: Map<string, ResultInput>;
  /** Not to be run. */
  readonly settled: SettledDecisions;
  /** On calls that were in hand already. */
  readonly reports: ReportsByCall;
  /** Aborts when this run is over, for the reason that ended it. */
  readonly over: AbortController;
};

export type InHand = {
  readonly has: (decisionId: string) => boolean;
  /** Nothing was reported of them before this time. */
  readonly sinceMs: number;
};

/** From who ran the partition before. */
export async function takeOver(parts: TakeOverParts, inHand: InHand): Promise<Run> {
  const { log, codec, clock, logger, partition, ownership } = parts;
  // Only after the fence is what the results say the last word of the executor before.
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
      // A call was allowed before anything was reported of it.
      settled: new SettledDecisions(reportedIds, lastMs + LOOK_BACK_MS),
    };
  } catch (error) {
    await claims.close().catch(() => undefined);
    throw error;
  }
}
