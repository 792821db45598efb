/**
 * Writes outcomes of calls into the log, repeatedly until they are there or the executor gives up.
 * An outcome that could not be written goes to the executor's own log, for the operator who must
 * find out what the gate will never learn.
 */

import { allowManyListeners } from "../adapters/system/many-listeners.ts";
import { NotClaimedError, NotRecordedError } from "../client/calls/run-call.ts";
import { withDeadline } from "../client/deadline.ts";
import type { JudgedReport } from "../client/inputs/report.ts";
import { type ReportedCall, resultInput } from "../client/inputs/report.ts";
import type { ResultStatus } from "../core/inputs.ts";
import { LIMITS } from "../core/limits.ts";
import { classify, RetryableError } from "../runtime/errors.ts";
import { conversationKey } from "../runtime/partitioner.ts";
import type { Clock, Log, Logger, OutgoingRecord } from "../runtime/ports.ts";
import type { AvroCodec } from "../wire/codec.ts";
import { causeOf, namesOf, type RunningCall } from "./running-call.ts";

const BACKOFF_MS_MIN = 250;
const BACKOFF_MS_MAX = 5_000;

export type ReportsParts = {
  readonly log: Log;
  readonly codec: Pick<AvroCodec, "encodeResult">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly partition: number;
  /** Called with the status of each report that is in the log. */
  readonly onReported?: (status: ResultStatus) => void;
};

export class Reports {
  /** Distinguishes the records of this executor from those of others. */
  readonly executorId = crypto.randomUUID();
  readonly #parts: ReportsParts;
  readonly #gaveUp = new AbortController();
  readonly #ended = new AbortController();

  constructor(parts: ReportsParts) {
    this.#parts = parts;
    allowManyListeners(this.#gaveUp.signal);
    allowManyListeners(this.#ended.signal);
  }

  /** Aborts when nothing is retried any more. */
  get gaveUp(): AbortSignal {
    return this.#gaveUp.signal;
  }

  /** From now on, each write is tried once. */
  giveUp(): void {
    this.#gaveUp.abort(noAnswer());
  }

  /** Stops waiting for the writes in progress. */
  end(): void {
    this.#ended.abort(noAnswer());
  }

  /**
   * Retries until the report is in the log. @throws the latest error, once the executor has given
   * up.
   */
  async write(call: ReportedCall, report: JudgedReport): Promise<void> {
    const { clock, logger, partition } = this.#parts;
    for (let backoffMs = BACKOFF_MS_MIN; ; backoffMs = Math.min(backoffMs * 2, BACKOFF_MS_MAX)) {
      try {
        await this.append(call, report);
        return;
      } catch (error) {
        if (classify(error) !== "retry" || this.gaveUp.aborted) throw error;
        const fields = { partition, ...namesOf(call), status: report.status, ...causeOf(error) };
        logger.warn("a result could not be written yet", fields);
        await clock.sleep(backoffMs, this.gaveUp);
      }
    }
  }

  async append(call: ReportedCall, report: JudgedReport): Promise<void> {
    const written = this.#parts.log.append([this.record(call, report)]);
    const ended = this.#ended.signal;
    // After the end nobody waits, so the write may take its time.
    await (ended.aborted ? written : withDeadline(written, { signal: ended }));
    this.#parts.onReported?.(report.status);
  }

  record(call: ReportedCall, report: JudgedReport): OutgoingRecord {
    const key = conversationKey(call.tenantId, call.conversationId);
    const input = resultInput(call, report, LIMITS.outputBytesMax);
    const value = this.#parts.codec.encodeResult({ ...input, executorId: this.executorId });
    return { topic: "results", partition: this.#parts.partition, key, value };
  }

  /**
   * Logs for the operator what the gate was not told: the call, its outcome, and why it could not
   * be written.
   */
  failed(what: string, call: RunningCall, error: unknown): void {
    const { logger, partition } = this.#parts;
    const { status, cause } = lostOf(error);
    logger.error(what, { partition, ...namesOf(call), status, ...causeOf(cause) });
  }
}

function noAnswer(): RetryableError {
  return new RetryableError("outcome_unknown", "no answer came before the executor was closed");
}

function lostOf(error: unknown): { readonly status: string; readonly cause: unknown } {
  if (error instanceof NotRecordedError)
    return { status: error.execution.type, cause: error.cause };
  if (error instanceof NotClaimedError) return { status: "not_executed", cause: error.cause };
  // A late result that is a success is reported as one.
  return { status: "succeeded", cause: error };
}
