/**
 * Runs the allowed calls of a partition as the log hands them out: for tools that do not live where the
 * agent does. Not to be mixed with tools that are guarded in the agent's own process.
 *
 * L1 `started` is in the log before a handler runs, written by a writer that fences the executor before:
 *    who takes over runs nothing that was started, and who was taken over starts nothing.
 * L2 a call that was started by an executor that is gone is reported `unknown`, once. Where that executor
 *    was not gone but cut off, its late result reconciles.
 * L3 a decision is run once, however often it is read.
 * L4 what came of a call is written again and again until it is in the log, or the executor is closed.
 */
import type { AvroCodec } from "../adapters/avro/codec.ts";
import type { AllowedCall } from "../adapters/avro/output-records.ts";
import type { JsonObject } from "../core/canonical/json-value.ts";
import type { ResultInput, ResultStatus } from "../core/inputs.ts";
import { LIMITS } from "../core/limits.ts";
import { asPipelineError, classify, type PipelineError } from "../runtime/errors.ts";
import { conversationKey } from "../runtime/partitioner.ts";
import type { Clock, Log, Logger, OutgoingRecord, Ownership } from "../runtime/ports.ts";
import { argumentsWithKey } from "./arguments-with-key.ts";
import type { CallReport } from "./call-report.ts";
import { type Claims, FencedClaims, unfencedClaims } from "./claims.ts";
import { type ExecutableCall, type ExecutionReport, Executor, type Handler } from "./executor.ts";
import { offsetAt } from "./offset-at.ts";
import { type ReportedCall, resultInput } from "./result-input.ts";
import { readStartedCalls } from "./started-calls.ts";

const READ_LIMITS = { recordsMax: 100, bytesMax: 4 * 1024 * 1024 };
const WAIT_MS = 60_000;
const BACKOFF_MS_MIN = 250;
const BACKOFF_MS_MAX = 5_000;
/** Calls that were allowed longer ago are not begun any more. */
const LOOK_BACK_MS = LIMITS.startWithinMsMax;

export type LogExecutorParts = {
  readonly log: Log;
  readonly codec: Pick<AvroCodec, "decodeAllowed" | "decodeInput" | "encodeResult" | "pending">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly partition: number;
  /** By tool. Calls of other tools are left to others. */
  readonly handlers: Readonly<Record<string, Handler>>;
  /** Fences the executors before; null: there are no others. */
  readonly ownership: Ownership | null;
  /** Most calls under way, those that wait for a write before them included. */
  readonly parallelCalls: number;
  /** Told of each report that is in the log. */
  readonly onReported?: (status: ResultStatus) => void;
  /** Told of each call that might be run and has no handler here. */
  readonly onLeft?: (tool: string) => void;
};

export type ExecutorState = "restoring" | "running" | "suspended" | "not_owner" | "closed";

export type ExecutorStatus = {
  readonly state: ExecutorState;
  /** Why it does not run. */
  readonly error: PipelineError | null;
};

type RunningCall = ExecutableCall & ReportedCall;

/** What a take-over found, and what it writes by. */
type Run = {
  readonly claims: Claims;
  /** Started by executors before us; shrinks as each is reported. */
  readonly open: Map<string, ResultInput>;
  /** Not to be run. */
  readonly known: Set<string>;
  /** Aborts when this run is over, for the reason that ended it. */
  readonly over: AbortController;
};

export class LogExecutor {
  readonly #parts: LogExecutorParts;
  readonly #executor: Executor<RunningCall>;
  /** Tells its starts from those of others. */
  readonly #id = crypto.randomUUID();
  readonly #abort = new AbortController();
  /** Aborts when nothing is written any more. */
  readonly #gaveUp = new AbortController();
  /** Calls taken here that have not ended, by decision. */
  readonly #inHand = new Map<string, Promise<void>>();
  #run: Run | null = null;
  #runChanged: (() => void)[] = [];
  #status: ExecutorStatus = { state: "restoring", error: null };
  #main: Promise<void> | undefined;

  constructor(parts: LogExecutorParts) {
    this.#parts = parts;
    this.#executor = new Executor({
      clock: parts.clock,
      report: (call, report) => this.#report(call, reportOf(report)),
      onLateError: (call, error) => this.#failed("a late result was not written", call, error),
    });
  }

  get status(): ExecutorStatus {
    return this.#status;
  }

  /** Takes over from who ran before, and runs what is allowed from then on. */
  start(): void {
    this.#main ??= this.#live();
  }

  /** Runs nothing new; waits for what runs, at most so long, then aborts it. */
  async close(timeoutMs: number): Promise<void> {
    this.#abort.abort();
    this.#changed();
    const timer = setTimeout(() => this.#gaveUp.abort(), timeoutMs);
    await this.#executor.close(timeoutMs);
    await this.#main;
    await Promise.all(this.#inHand.values());
    clearTimeout(timer);
    this.#become("closed", this.#status.error);
  }

  async #live(): Promise<void> {
    let backoffMs = BACKOFF_MS_MIN;
    while (!this.#abort.signal.aborted) {
      try {
        this.#become("restoring", null);
        const run = await this.#takeOver();
        backoffMs = BACKOFF_MS_MIN;
        await this.#follow(run);
      } catch (thrown) {
        const error = asPipelineError(thrown);
        if (!this.#suspended(error)) return;
        await this.#parts.clock.sleep(backoffMs, this.#abort.signal);
        backoffMs = Math.min(backoffMs * 2, BACKOFF_MS_MAX);
      } finally {
        await this.#letGo();
      }
    }
  }

  /** Whether to take over again. */
  #suspended(error: PipelineError): boolean {
    const { logger, partition } = this.#parts;
    const { code, disposition, message } = error;
    logger.error("a partition of allowed calls stopped", { partition, code, disposition, message });
    const mayRecover = disposition === "retry" || disposition === "rebuild";
    const ended = disposition === "fenced" ? "not_owner" : "closed";
    this.#become(mayRecover ? "suspended" : ended, error);
    if (!mayRecover) this.#abort.abort();
    return mayRecover;
  }

  async #takeOver(): Promise<Run> {
    const { log, codec, clock, logger, partition, ownership } = this.#parts;
    // Only after the fence is what the results say the last word of the executor before.
    const claims =
      ownership === null
        ? unfencedClaims(log)
        : new FencedClaims(await ownership.takeOver(partition));
    const sinceMs = clock.nowMs() - LOOK_BACK_MS;
    try {
      const { open, known } = await readStartedCalls(log, codec, partition, sinceMs);
      const run = { claims, open: new Map(open), known: new Set(known) };
      logger.info("allowed calls were taken over", { partition, open: open.size });
      this.#run = { ...run, over: new AbortController() };
      return this.#run;
    } catch (error) {
      await claims.close().catch(() => undefined);
      throw error;
    }
  }

  async #letGo(): Promise<void> {
    const claims = this.#run?.claims;
    this.#run = null;
    await claims?.close().catch(() => undefined);
  }

  async #follow(run: Run): Promise<void> {
    const { log, clock, partition } = this.#parts;
    const sinceMs = clock.nowMs() - LOOK_BACK_MS;
    let offset = await offsetAt(log, "allowed", partition, sinceMs);
    this.#become("running", null);
    this.#changed();
    const signal = AbortSignal.any([this.#abort.signal, run.over.signal]);
    while (!signal.aborted) {
      const { records, nextOffset } = await log.read("allowed", partition, offset, READ_LIMITS);
      for (const record of records) {
        if (signal.aborted) break;
        await this.#take(run, record.offset, record.value, signal);
      }
      offset = nextOffset;
      if (records.length > 0) continue;
      await log.waitForNew([{ topic: "allowed", partition, offset }], WAIT_MS, signal);
    }
    if (run.over.signal.aborted) throw run.over.signal.reason;
  }

  async #take(
    run: Run,
    offset: number,
    value: Uint8Array | null,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#parts.codec.pending?.(value);
    const allowed = this.#decoded(offset, value);
    if (allowed === null) return;
    const { handlers, clock, parallelCalls } = this.#parts;
    const { decisionId, tool } = allowed;
    const handler = Object.hasOwn(handlers, tool) ? handlers[tool] : undefined;
    if (handler === undefined && clock.nowMs() <= allowed.notAfterMs) this.#parts.onLeft?.(tool);
    if (handler === undefined || this.#inHand.has(decisionId)) return;
    const started = run.open.get(decisionId);
    if (started !== undefined) {
      run.open.delete(decisionId);
      await this.#reportGone(started, allowed);
      return;
    }
    if (run.known.has(decisionId)) return;
    // Long ago, and nobody knows by whom it was run: the gate says `unknown` of it by itself.
    if (clock.nowMs() > allowed.notAfterMs) return;
    // Some of those under way may wait for the next take-over, which waits for this.
    if (this.#inHand.size >= parallelCalls) {
      const over = signalled(signal);
      while (this.#inHand.size >= parallelCalls && !signal.aborted) {
        await Promise.race([...this.#inHand.values(), over]);
      }
    }
    if (signal.aborted) return;
    run.known.add(decisionId);
    const ended = this.#runCall(run, callOf(allowed), handler);
    this.#inHand.set(decisionId, ended);
    void ended.then(() => this.#inHand.delete(decisionId));
  }

  /** Null: no call of ours to run. A record that is none is said and passed by. */
  #decoded(offset: number, value: Uint8Array | null): AllowedCall | null {
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

  async #reportGone(started: ResultInput, { isRead }: AllowedCall): Promise<void> {
    const error = { message: "the executor that started it is gone" };
    await this.#append({ ...started, isRead }, { status: "unknown", error });
  }

  async #runCall(taken: Run, call: RunningCall, handler: Handler): Promise<void> {
    try {
      await this.#executor.run(call, handler, { claim: () => this.#claim(call, taken) });
    } catch (error) {
      this.#failed("what came of a call was not written", call, error);
    }
  }

  /**
   * However late: nobody else can say of a call in hand that it was not executed. False: it was begun by
   * another executor, who tells what comes of it, or else the gate does once its time is over; or this one
   * is closed and leaves it to the next.
   */
  async #claim(call: RunningCall, taken: Run): Promise<boolean> {
    while (!this.#abort.signal.aborted) {
      const run = this.#run;
      if (run === null || run.over.signal.aborted) {
        await this.#nextRun();
        continue;
      }
      if (run !== taken && this.#isBegunElsewhere(run, call)) return false;
      // It may have ended before its record is come to again.
      run.known.add(call.decisionId);
      try {
        await run.claims.write(this.#record(call, { status: "started" }));
        this.#parts.onReported?.("started");
        return true;
      } catch (error) {
        // Whether it is in the log shows after the next take-over; that it was not begun is known here.
        run.over.abort(error);
      }
    }
    return false;
  }

  /** Since it was taken in hand: what the results say of it was said by others, or by a claim of ours that got no answer. */
  #isBegunElsewhere({ known, open }: Run, { decisionId }: RunningCall): boolean {
    return known.has(decisionId) && open.get(decisionId)?.executorId !== this.#id;
  }

  #nextRun(): Promise<void> {
    return new Promise((resolve) => this.#runChanged.push(resolve));
  }

  #changed(): void {
    for (const resolve of this.#runChanged.splice(0)) resolve();
  }

  /** Until it is in the log. @throws what kept it out, once the executor is closed for good. */
  async #report(call: ReportedCall, report: CallReport): Promise<void> {
    const { clock, logger, partition } = this.#parts;
    for (let backoffMs = BACKOFF_MS_MIN; ; backoffMs = Math.min(backoffMs * 2, BACKOFF_MS_MAX)) {
      try {
        await this.#append(call, report);
        return;
      } catch (error) {
        if (classify(error) !== "retry" || this.#gaveUp.signal.aborted) throw error;
        const { decisionId } = call;
        logger.warn("a result could not be written yet", { partition, decisionId });
        await clock.sleep(backoffMs, this.#gaveUp.signal);
      }
    }
  }

  async #append(call: ReportedCall, report: CallReport): Promise<void> {
    await this.#parts.log.append([this.#record(call, report)]);
    this.#parts.onReported?.(report.status);
  }

  #record(call: ReportedCall, report: CallReport): OutgoingRecord {
    const key = conversationKey(call.tenantId, call.conversationId);
    const input = resultInput(call, report, LIMITS.outputBytesMax);
    const value = this.#parts.codec.encodeResult({ ...input, executorId: this.#id });
    return { topic: "results", partition: this.#parts.partition, key, value };
  }

  #failed(what: string, call: RunningCall, error: unknown): void {
    const { tenantId, conversationId, callId, decisionId, tool } = call;
    const message = error instanceof Error ? error.message : String(error);
    const names = { tenantId, conversationId, callId, decisionId, tool };
    this.#parts.logger.error(what, { ...names, message });
  }

  #become(state: ExecutorState, error: PipelineError | null): void {
    if (this.#status.state === "closed" || this.#status.state === "not_owner") return;
    this.#status = { state, error };
    this.#changed();
  }
}

function signalled(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function callOf(allowed: AllowedCall): RunningCall {
  const { decisionId, callId, tool, tenantId, conversationId, isRead, idempotencyKey } = allowed;
  const args = JSON.parse(allowed.arguments) as JsonObject;
  return {
    ...{ decisionId, callId, tool, tenantId, conversationId, isRead, idempotencyKey },
    conversation: conversationKey(tenantId, conversationId),
    arguments: argumentsWithKey(args, allowed.idempotencyArgument, idempotencyKey),
    notAfterMs: allowed.notAfterMs,
    timeLimitMs: allowed.timeLimitMs,
  };
}

function reportOf(report: ExecutionReport): CallReport {
  if (report.status !== "succeeded") return report;
  const { status, value: output, durationMs } = report;
  return { status, output, durationMs };
}
