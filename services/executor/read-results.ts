/**
 * What the results of a partition say about calls that were begun. A new owner reads it to take
 * over from the previous executor.
 */

import { findOffsetAt } from "../client/journal/find-offset.ts";
import type { ResultInput } from "../core/inputs.ts";
import type { Codec, Log } from "../runtime/ports.ts";

const READ_LIMITS = { recordsMax: 1_000, bytesMax: 4 * 1024 * 1024 };

export type ResultsSummary = {
  /** Begun and not ended, by decision id. */
  readonly open: ReadonlyMap<string, ResultInput>;
  /** Begun or ended: must not run again. */
  readonly reportedIds: ReadonlySet<string>;
  /** When the latest result was written; 0: there are no results. */
  readonly lastMs: number;
  /** All reports on calls in hand, in order. */
  readonly reports: ReportsByCall;
};

export type ReportsByCall = ReadonlyMap<string, readonly StatusReport[]>;

export type ResultsSource = {
  readonly log: Log;
  readonly codec: Pick<Codec, "decodeInput" | "pending">;
  readonly partition: number;
  /** Older results are skipped. */
  readonly sinceMs: number;
};

export async function readResults(
  read: ResultsSource,
  isInHand: (decisionId: string) => boolean,
): Promise<ResultsSummary> {
  const open = new Map<string, ResultInput>();
  const reportedIds = new Set<string>();
  const reports = new Map<string, StatusReport[]>();
  let lastMs = 0;
  for await (const { result, appendTimeMs } of resultsOf(read)) {
    const { decisionId, status } = result;
    lastMs = appendTimeMs;
    reportedIds.add(decisionId);
    if (status === "started") open.set(decisionId, result);
    else open.delete(decisionId);
    if (isInHand(decisionId)) addTo(reports, result);
  }
  return { open, reportedIds, lastMs, reports };
}

/** All reports on calls in hand, in order. */
export async function readReports(
  read: ResultsSource,
  isInHand: (decisionId: string) => boolean,
): Promise<ReportsByCall> {
  const reports = new Map<string, StatusReport[]>();
  for await (const { result } of resultsOf(read)) {
    if (isInHand(result.decisionId)) addTo(reports, result);
  }
  return reports;
}

/** Drops the outputs, which take much memory over many calls. */
function addTo(
  reports: Map<string, StatusReport[]>,
  { decisionId, status, executorId }: ResultInput,
): void {
  const one = executorId === undefined ? { status } : { status, executorId };
  const before = reports.get(decisionId);
  if (before === undefined) reports.set(decisionId, [one]);
  else before.push(one);
}

type ReadResult = { readonly result: ResultInput; readonly appendTimeMs: number };

/**
 * Reads to the current end of the results, also behind a transaction of another group that is open
 * now: a claim that is not seen would be a second run.
 */
async function* resultsOf({
  log,
  codec,
  partition,
  sinceMs,
}: ResultsSource): AsyncGenerator<ReadResult> {
  const end = await log.endOffset("results", partition, "whole");
  let offset = await findOffsetAt(log, "results", partition, sinceMs);
  while (offset < end) {
    const { records, nextOffset } = await log.read("results", partition, offset, READ_LIMITS);
    if (nextOffset <= offset) break;
    offset = nextOffset;
    for (const { value, appendTimeMs } of records) {
      await codec.pending?.(value);
      const decoded = codec.decodeInput("results", value);
      if (!decoded.ok || decoded.input.type !== "result") continue;
      yield { result: decoded.input, appendTimeMs };
    }
  }
}

export type StatusReport = Pick<ResultInput, "status" | "executorId">;

/**
 * Status of a call in hand that this executor did not begin, according to all results. Once a claim
 * is in the log, no later owner begins the call.
 */
export type ClaimStatus =
  /** The results say nothing about it: anybody may begin it. */
  | "unclaimed"
  /** Only a claim of ours that got no answer. */
  | "claimed"
  /** The same, and another executor treated it as a call that a gone executor had begun. */
  | "given_up"
  /** Another executor began it, or has reported its outcome. */
  | "elsewhere";

export function readClaimStatus(reports: readonly StatusReport[], executorId: string): ClaimStatus {
  if (reports.length === 0) return "unclaimed";
  const starts = reports.filter(({ status }) => status === "started");
  const isOurs = starts.length > 0 && starts.every((start) => start.executorId === executorId);
  if (!isOurs) return "elsewhere";
  const ends = reports.filter(({ status }) => status !== "started");
  if (ends.length === 0) return "claimed";
  const isAbandoned = ends.every(
    (end) => end.status === "unknown" && end.executorId !== executorId,
  );
  return isAbandoned ? "given_up" : "elsewhere";
}
