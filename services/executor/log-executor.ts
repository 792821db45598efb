/**
 * Runs allowed calls as the log hands them out: for tools that do not live where the agent does. One
 * executor owns a partition. Not to be mixed with tools that are guarded in the agent's own process.
 *
 * L1 `started` is in the log before a handler runs; who takes over runs nothing that was started.
 * L2 a call that was started by an executor that is gone is reported `unknown`, once.
 * L3 a decision is run once, however often it is read.
 */
import type { AvroCodec } from "../adapters/avro/codec.ts";
import type { AllowedCall } from "../adapters/avro/output-records.ts";
import type { JsonObject } from "../core/canonical/json-value.ts";
import { LIMITS } from "../core/limits.ts";
import { classify } from "../runtime/errors.ts";
import { conversationKey } from "../runtime/partitioner.ts";
import type { Clock, Log, Logger } from "../runtime/ports.ts";
import { argumentsWithKey } from "./arguments-with-key.ts";
import type { CallReport } from "./call-report.ts";
import { type ExecutableCall, type ExecutionReport, Executor, type Handler } from "./executor.ts";
import { type ReportedCall, resultInput } from "./result-input.ts";
import { readStartedCalls } from "./started-calls.ts";

const READ_LIMITS = { recordsMax: 100, bytesMax: 4 * 1024 * 1024 };
const RUNNING_MAX = 256;
const WAIT_MS = 60_000;
const BACKOFF_MS = 1_000;

export type LogExecutorParts = {
  readonly log: Log;
  readonly codec: Pick<AvroCodec, "decodeAllowed" | "decodeInput" | "encodeResult">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly partition: number;
  /** By tool. Calls of other tools are left to others. */
  readonly handlers: Readonly<Record<string, Handler>>;
};

type RunningCall = ExecutableCall & ReportedCall;

export class LogExecutor {
  readonly #parts: LogExecutorParts;
  readonly #executor: Executor<RunningCall>;
  readonly #abort = new AbortController();
  /** Decisions that were begun before this executor took over. */
  #known: ReadonlySet<string> = new Set();
  readonly #running = new Set<Promise<void>>();
  #following: Promise<void> | undefined;

  constructor(parts: LogExecutorParts) {
    this.#parts = parts;
    this.#executor = new Executor({
      clock: parts.clock,
      report: (call, report) => this.#report(call, reportOf(report)),
      onLateError: (call, error) => this.#failed("a late result was not written", call, error),
    });
  }

  /** Takes over from who ran before; calls run from when it resolves. @throws PipelineError */
  async start(): Promise<void> {
    const { log, codec, partition } = this.#parts;
    const { open, known } = await readStartedCalls(log, codec, partition);
    this.#known = known;
    for (const started of open.values()) {
      const error = { message: "the executor that started it is gone" };
      await this.#report({ ...started, isRead: false }, { status: "unknown", error });
    }
    this.#following = this.#follow(await log.startOffset("allowed", partition));
  }

  /** Runs nothing new; waits for what runs, at most so long, then aborts it. */
  async close(timeoutMs: number): Promise<void> {
    this.#abort.abort();
    await this.#executor.close(timeoutMs);
    await this.#following;
    await Promise.all(this.#running);
  }

  async #follow(fromOffset: number): Promise<void> {
    const { log, partition } = this.#parts;
    const { signal } = this.#abort;
    let offset = fromOffset;
    while (!signal.aborted) {
      try {
        const { records, nextOffset } = await log.read("allowed", partition, offset, READ_LIMITS);
        for (const record of records) {
          offset = record.offset + 1;
          await this.#take(record.value);
        }
        offset = nextOffset;
        if (records.length > 0) continue;
        await log.waitForNew([{ topic: "allowed", partition, offset }], WAIT_MS, signal);
      } catch (error) {
        if (!(await this.#recovered(error))) return;
      }
    }
  }

  /** Whether to read on: after a while, where the log may come back; past a record that is none. */
  async #recovered(error: unknown): Promise<boolean> {
    const { clock, logger, partition } = this.#parts;
    const message = error instanceof Error ? error.message : String(error);
    logger.error("allowed calls could not be read", { partition, message });
    const disposition = classify(error);
    if (disposition === "retry") await clock.sleep(BACKOFF_MS, this.#abort.signal);
    return disposition === "retry" || disposition === "quarantine";
  }

  async #take(value: Uint8Array | null): Promise<void> {
    if (value === null || this.#abort.signal.aborted) return;
    const allowed = this.#parts.codec.decodeAllowed(value);
    const { handlers, clock } = this.#parts;
    const handler = Object.hasOwn(handlers, allowed.tool) ? handlers[allowed.tool] : undefined;
    if (handler === undefined || this.#known.has(allowed.decisionId)) return;
    // Long ago, and nobody knows by whom it was run: the gate says `unknown` of it by itself.
    if (clock.nowMs() > allowed.notAfterMs) return;
    while (this.#running.size >= RUNNING_MAX) await Promise.race(this.#running);
    const run = this.#run(callOf(allowed), handler);
    this.#running.add(run);
    void run.then(() => this.#running.delete(run));
  }

  async #run(call: RunningCall, handler: Handler): Promise<void> {
    const claim = async (): Promise<boolean> => {
      await this.#report(call, { status: "started" });
      return true;
    };
    try {
      await this.#executor.run(call, handler, { claim, signal: undefined });
    } catch (error) {
      this.#failed("what came of a call was not written", call, error);
    }
  }

  async #report(call: ReportedCall, report: CallReport): Promise<void> {
    const { log, codec, partition } = this.#parts;
    const key = conversationKey(call.tenantId, call.conversationId);
    const value = codec.encodeResult(resultInput(call, report, LIMITS.outputBytesMax));
    await log.append([{ topic: "results", partition, key, value }]);
  }

  #failed(what: string, call: ExecutableCall, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#parts.logger.error(what, { decisionId: call.decisionId, tool: call.tool, message });
  }
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
