/**
 * Runs the allowed calls of a partition in the order of the log, for tools that do not live in the
 * agent's process. Do not combine it with tools that are guarded in the agent's own process.
 *
 * EXECUTOR-1 `started` is in the log before a handler runs, written by a writer that has fenced the
 *   previous executor: a new owner runs nothing that was started, and a fenced executor starts
 *   nothing.
 * EXECUTOR-2 a call that a gone executor started is reported `unknown`, once. If that executor was
 *   only cut off, its late result reconciles the call.
 * EXECUTOR-3 a decision is run once, however often it is read.
 * EXECUTOR-4 the outcome of a call is written repeatedly until it is in the log, or the executor is
 *   closed.
 * EXECUTOR-5 a call whose claim got no answer, and that is not begun here, is reported as not
 *   executed if the claim is in the log, as nobody else begins it; if that cannot be determined any
 *   more, the executor logs it.
 * EXECUTOR-6 closing waits for nothing that does not answer: not for a broker beyond its time, nor
 *   for the last results beyond a share of that time.
 */

import { Executor, type Handler } from "../client/calls/run-call.ts";
import { startTimer, withDeadline } from "../client/deadline.ts";
import { reportOfExecution } from "../client/inputs/report.ts";
import { findOffsetAt } from "../client/journal/find-offset.ts";
import type { ResultInput, ResultStatus } from "../core/inputs.ts";
import { asPipelineError, classify, type PipelineError } from "../runtime/errors.ts";
import type { LogRecord } from "../runtime/ports.ts";
import type { AvroCodec } from "../wire/codec.ts";
import type { AllowedCall } from "../wire/output-records.ts";
import { mayBeWritten } from "./claims.ts";
import {
  type ClaimStatus,
  type ReportsByCall,
  readClaimStatus,
  readReports,
} from "./read-results.ts";
import { Reports } from "./reports.ts";
import { callOf, namesOf, type RunningCall } from "./running-call.ts";
import { LOOK_BACK_MS, type Run, type TakeOverParts, takeOver } from "./take-over.ts";

const READ_LIMITS = { recordsMax: 100, bytesMax: 4 * 1024 * 1024 };
const WAIT_MS = 60_000;
const BACKOFF_MS_MIN = 250;
const BACKOFF_MS_MAX = 5_000;
/**
 * The share of the closing time that may be spent afterwards on reporting the calls that were
 * aborted.
 */
const LAST_WRITES_SHARE = 0.15;
const LAST_WRITES_MS_MIN = 1_000;
/** Each broker appends by its own clock; clocks differ by less than this. */
const CLOCKS_DIFFER_MS = 60_000;

export type LogExecutorParts = TakeOverParts & {
  readonly codec: Pick<AvroCodec, "decodeAllowed" | "decodeInput" | "encodeResult" | "pending">;
  /** By tool. Calls of other tools are left to other executors. */
  readonly handlers: Readonly<Record<string, Handler>>;
  /** Maximum of calls in hand, including calls that wait for a write before them. */
  readonly parallelCalls: number;
  /** Called with the status of each report that is in the log. */
  readonly onReported?: (status: ResultStatus) => void;
  /**
   * Called for each call that could run but has no handler here; called again if the call is read
   * again, for example after a take-over.
   */
  readonly onLeft?: (call: LeftCall) => void;
};

export type LeftCall = Pick<AllowedCall, "decisionId" | "call" | "notAfterMs">;

export type ExecutorState = "restoring" | "running" | "suspended" | "not_owner" | "closed";

export type ExecutorStatus = {
  readonly state: ExecutorState;
  /** Why the executor does not run. */
  readonly error: PipelineError | null;
};

/** Accepted here, and not ended. */
type CallInHand = { readonly allowedMs: number; readonly ended: Promise<void> };

export class LogExecutor {
  readonly #parts: LogExecutorParts;
  readonly #executor: Executor<RunningCall>;
  readonly #reports: Reports;
  readonly #abort = new AbortController();
  /** By decision id. */
  readonly #inHand = new Map<string, CallInHand>();
  #run: Run | null = null;
  #waiting: (() => void)[] = [];
  #status: ExecutorStatus = { state: "restoring", error: null };
  #main: Promise<void> | undefined;
  #lastReports: Promise<ReportsByCall | null> | undefined;

  constructor(parts: LogExecutorParts) {
    this.#parts = parts;
    this.#reports = new Reports(parts);
    this.#executor = new Executor({
      clock: parts.clock,
      report: (call, report) => this.#reports.write(call, reportOfExecution(report)),
      onLateError: (call, error) =>
        this.#reports.failed("a late result was not written", call, error),
    });
  }

  get status(): ExecutorStatus {
    return this.#status;
  }

  /** Takes over from the previous executor, then runs the allowed calls. */
  start(): void {
    this.#main ??= this.#live();
  }

  /**
   * Runs nothing new; waits at most `timeoutMs` for running calls, then aborts them (EXECUTOR-6).
   */
  async close(timeoutMs: number): Promise<void> {
    this.#abort.abort();
    this.#changed();
    const reports = this.#reports;
    const stopGivingUp = startTimer(timeoutMs, () => reports.giveUp());
    const lastMs = Math.max(timeoutMs * LAST_WRITES_SHARE, LAST_WRITES_MS_MIN);
    const stopEnding = startTimer(timeoutMs + lastMs, () => reports.end());
    await this.#executor.close(timeoutMs);
    await this.#mainEnded();
    await Promise.all([...this.#inHand.values()].map(({ ended }) => ended));
    stopGivingUp();
    stopEnding();
    this.#become("closed", this.#status.error);
  }

  /** Abandons what does not answer: it begins nothing any more. */
  async #mainEnded(): Promise<void> {
    const main = this.#main ?? Promise.resolve();
    await withDeadline(main, { signal: this.#reports.gaveUp }).catch(() => undefined);
  }

  async #live(): Promise<void> {
    let backoffMs = BACKOFF_MS_MIN;
    while (!this.#abort.signal.aborted) {
      try {
        this.#become("restoring", null);
        this.#run = await takeOver(this.#parts, this.#callsInHand());
        backoffMs = BACKOFF_MS_MIN;
        // Closed in the meantime, by a caller that does not wait for this.
        if (this.#abort.signal.aborted) return;
        await this.#follow(this.#run);
      } catch (thrown) {
        const error = asPipelineError(thrown);
        if (!this.#suspend(error)) return;
        await this.#parts.clock.sleep(backoffMs, this.#abort.signal);
        backoffMs = Math.min(backoffMs * 2, BACKOFF_MS_MAX);
      } finally {
        await this.#letGo();
      }
    }
  }

  /** Whether to take over again. */
  #suspend(error: PipelineError): boolean {
    const { logger, partition } = this.#parts;
    const { code, kind, message } = error;
    logger.error("a partition of allowed calls stopped", { partition, code, kind, message });
    const mayRecover = kind === "retry" || kind === "rebuild";
    const ended = kind === "fenced" ? "not_owner" : "closed";
    this.#become(mayRecover ? "suspended" : ended, error);
    if (!mayRecover) this.#abort.abort();
    return mayRecover;
  }

  #callsInHand() {
    const allowedMs = [...this.#inHand.values()].map((call) => call.allowedMs);
    const sinceMs = Math.min(...allowedMs, this.#parts.clock.nowMs()) - CLOCKS_DIFFER_MS;
    return { has: (decisionId: string) => this.#inHand.has(decisionId), sinceMs };
  }

  async #letGo(): Promise<void> {
    const claims = this.#run?.claims;
    this.#run = null;
    await claims?.close().catch(() => undefined);
  }

  async #follow(run: Run): Promise<void> {
    const { log, clock, partition } = this.#parts;
    const sinceMs = clock.nowMs() - LOOK_BACK_MS;
    let offset = await findOffsetAt(log, "allowed", partition, sinceMs);
    this.#become("running", null);
    const signal = AbortSignal.any([this.#abort.signal, run.over.signal]);
    signal.addEventListener("abort", () => this.#changed());
    while (!signal.aborted) {
      const { records, nextOffset } = await log.read("allowed", partition, offset, READ_LIMITS);
      for (const record of records) {
        if (signal.aborted) break;
        await this.#take(run, record, signal);
      }
      offset = nextOffset;
      if (records.length > 0) continue;
      await log.waitForNew([{ topic: "allowed", partition, offset }], WAIT_MS, signal);
    }
    if (run.over.signal.aborted) throw run.over.signal.reason;
  }

  async #take(run: Run, record: LogRecord, signal: AbortSignal): Promise<void> {
    await this.#parts.codec.pending?.(record.value);
    const allowed = this.#decoded(record);
    if (allowed === null) return;
    const { handlers, clock, parallelCalls } = this.#parts;
    const { decisionId, notAfterMs } = allowed;
    const { tool } = allowed.call;
    const isSettled = run.settled.recall(decisionId, notAfterMs);
    run.settled.forget(clock.nowMs());
    const handler = Object.hasOwn(handlers, tool) ? handlers[tool] : undefined;
    if (handler === undefined && clock.nowMs() <= notAfterMs) this.#parts.onLeft?.(allowed);
    if (handler === undefined || this.#inHand.has(decisionId)) return;
    const started = run.open.get(decisionId);
    if (started !== undefined) {
      run.open.delete(decisionId);
      await this.#reportGone(started, allowed);
      return;
    }
    if (isSettled) return;
    // Too old to begin, and nobody knows who ran it: the gate makes it `unknown` by itself.
    if (clock.nowMs() > notAfterMs) return;
    // Calls in hand may wait for the next take-over, which waits for this.
    while (this.#inHand.size >= parallelCalls && !signal.aborted) await this.#change();
    if (signal.aborted) return;
    run.settled.add(decisionId, notAfterMs);
    const ended = this.#runCall(run, callOf(allowed), handler).then(() => {
      this.#inHand.delete(decisionId);
      this.#changed();
    });
    this.#inHand.set(decisionId, { allowedMs: record.appendTimeMs, ended });
  }

  /** Null: no call of ours to run. Logs and skips a record that cannot be decoded. */
  #decoded({ offset, value }: LogRecord): AllowedCall | null {
    if (value === null) return null;
    try {
      return this.#parts.codec.decodeAllowed(value);
    } catch (error) {
      if (classify(error) !== "quarantine") throw error;
      const { logger, partition } = this.#parts;
      const message = error instanceof Error ? error.message : String(error);
      logger.error("a record of the allowed calls cannot be read", { partition, offset, message });
      return null;
    }
  }

  async #reportGone(started: ResultInput, { policy: { isRead } }: AllowedCall): Promise<void> {
    const error = { message: "the executor that started it is gone" };
    await this.#reports.append({ ...started, isRead }, { status: "unknown", error });
  }

  async #runCall(taken: Run, call: RunningCall, handler: Handler): Promise<void> {
    try {
      await this.#executor.run(call, handler, { claim: () => this.#claim(call, taken) });
    } catch (error) {
      this.#reports.failed("the outcome of a call was not written", call, error);
    }
  }

  /**
   * Waits however long it takes, because nobody else can report a call in hand as not executed.
   * Returns false in three cases: another executor began the call and reports its outcome, or else
   * the gate does once the time is over; nobody begins it, which was reported (EXECUTOR-5); or this
   * executor is closed and leaves the call to the next.
   */
  async #claim(call: RunningCall, taken: Run): Promise<boolean> {
    let isUnanswered = false;
    while (!this.#abort.signal.aborted) {
      const run = this.#run;
      if (run === null || run.over.signal.aborted) {
        await this.#change();
        continue;
      }
      const status = run === taken ? "unclaimed" : this.#claimStatus(run.reports, call);
      if (status === "elsewhere") return false;
      if (status === "given_up") return this.#reportUnbegun(call);
      try {
        await this.#claimIn(run, call);
        return true;
      } catch (error) {
        isUnanswered ||= mayBeWritten(error);
        // The next take-over shows whether the claim is in the log; certain is only that the call
        // was not begun here.
        run.over.abort(error);
      }
    }
    return isUnanswered ? this.#reportLeft(call) : false;
  }

  async #claimIn(run: Run, call: RunningCall): Promise<void> {
    // The call may have ended before its record is read again.
    run.settled.add(call.decisionId, call.notAfterMs);
    run.open.delete(call.decisionId);
    const written = run.claims.write(this.#reports.record(call, { status: "started" }));
    await withDeadline(written, { signal: this.#reports.gaveUp });
    this.#parts.onReported?.("started");
  }

  /** Claim status of a call that is not begun here. */
  #claimStatus(reports: ReportsByCall, { decisionId }: RunningCall): ClaimStatus {
    return readClaimStatus(reports.get(decisionId) ?? [], this.#reports.executorId);
  }

  async #reportUnbegun(call: RunningCall): Promise<false> {
    const error = { code: "not_claimed", message: "its claim got no answer, and it was not begun" };
    await this.#reports.write(call, { status: "not_executed", error });
    return false;
  }

  /**
   * EXECUTOR-5. The next executor treats the call as begun by a gone executor, if its claim is in
   *   the log.
   */
  async #reportLeft(call: RunningCall): Promise<false> {
    this.#lastReports ??= this.#readLastReports();
    const reports = await this.#lastReports;
    const status = reports === null ? "unclaimed" : this.#claimStatus(reports, call);
    if (status === "claimed" || status === "given_up") return this.#reportUnbegun(call);
    if (status === "elsewhere") return false;
    this.#parts.logger.warn(
      "a call was left: it was not begun here, and its claim may be in the log, so its outcome may become unknown",
      { partition: this.#parts.partition, ...namesOf(call), status: "not_executed" },
    );
    return false;
  }

  /** Reads once for all calls that are left; null if the log does not answer any more. */
  async #readLastReports(): Promise<ReportsByCall | null> {
    const { log, codec, partition } = this.#parts;
    // Closing the writer settles the writes in progress.
    await this.#mainEnded();
    const { has, sinceMs } = this.#callsInHand();
    try {
      const reports = readReports({ log, codec, partition, sinceMs }, has);
      return await withDeadline(reports, { signal: this.#reports.gaveUp });
    } catch {
      return null;
    }
  }

  /** Awaited in loops: a new run, room for a call, or the end. */
  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #changed(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #become(state: ExecutorState, error: PipelineError | null): void {
    if (this.#status.state === "closed" || this.#status.state === "not_owner") return;
    this.#status = { state, error };
    this.#changed();
  }
}
