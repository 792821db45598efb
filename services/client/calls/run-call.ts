/**
 * Runs the handlers of allowed calls. It never retries: only the gate decides whether a call may
 * run again.
 *
 * RUN-1 writes of one conversation run one after the other, in the order they arrive. Writes of one
 *   step were requested together and run side by side. Reads run beside all of them.
 * RUN-2 nothing starts after its `notAfterMs`, or if its claim was not granted. The claim comes
 *   first: only a process that knows that nobody has started the call may report it as not
 *   executed.
 * RUN-3 every call that was handed over is reported once it has ended, before its run resolves.
 * RUN-4 a call that was started and then given up is `unknown`: nobody can say whether it took
 *   effect.
 * RUN-5 a handler that is a generator ends when it was read to its end (`generators.ts`).
 */
import { allowManyListeners } from "../../adapters/system/many-listeners.ts";
import type { JsonObject } from "../../core/canonical/json-value.ts";
import { effectOfThrown, failureForm } from "../../core/failure-forms.ts";
import type { CallError, FailureEffect } from "../../core/inputs.ts";
import type { Clock } from "../../runtime/ports.ts";
import { linkSignals, startTimer } from "../deadline.ts";
import { describeThrown, isAbortError } from "./call-error.ts";
import {
  type GeneratorClosedError,
  isGenerator,
  isGeneratorClosed,
  passOn,
  readToEnd,
} from "./generators.ts";

export type ExecutableCall = {
  readonly decisionId: string;
  readonly callId: string;
  readonly tool: string;
  /** Identifies the conversation, whose writes wait for each other. */
  readonly conversation: string;
  /** Identifies the step that issued the call, see `stepName`; null: a step of its own. */
  readonly step: string | null;
  readonly isRead: boolean;
  /** With the key inserted, see `argumentsWithKey`. */
  readonly arguments: JsonObject;
  readonly idempotencyKey: string;
  readonly notAfterMs: number;
  readonly timeLimitMs: number;
};

export type HandlerContext = {
  readonly decisionId: string;
  readonly callId: string;
  readonly idempotencyKey: string;
  /** Aborts at the time limit, and when the caller gives up. */
  readonly signal: AbortSignal;
};

export type Handler = (args: JsonObject, context: HandlerContext) => unknown;

export type ExecutionReport =
  | { readonly status: "succeeded"; readonly value: unknown; readonly durationMs: number }
  | {
      readonly status: "failed";
      readonly error: CallError;
      readonly effect: FailureEffect;
      /** What the handler returned, if its form says that the call failed. */
      readonly value?: unknown;
      readonly durationMs: number;
    }
  | { readonly status: "unknown"; readonly error: CallError; readonly durationMs: number }
  | { readonly status: "not_executed"; readonly error: CallError };

export type Execution =
  /**
   * The handler returned; the value may still say that the call failed (`core/failure-forms.ts`).
   */
  | { readonly type: "succeeded"; readonly value: unknown }
  | { readonly type: "failed"; readonly error: unknown }
  /** The run was given up after its start (`reason` is the signal's). */
  | { readonly type: "unknown"; readonly why: "time_limit" | AbortCause; readonly reason: unknown }
  | {
      readonly type: "not_executed";
      readonly why: "too_late" | AbortCause;
      readonly reason: unknown;
    }
  | { readonly type: "not_claimed" };

/** The caller gave up, or the executor was closed. */
type AbortCause = "aborted" | "closed";

/** The claim got no answer, so the call did not run. */
export class NotClaimedError extends Error {
  override readonly name = "NotClaimedError";

  constructor(cause: unknown) {
    super("the claim of a call got no answer, so the call has not run", { cause });
  }
}

/** The call has ended, and its outcome could not be recorded: for the gate it is still running. */
export class NotRecordedError extends Error {
  override readonly name = "NotRecordedError";
  readonly execution: Execution;

  constructor(execution: Execution, cause: unknown) {
    super("the outcome of a call could not be recorded", { cause });
    this.execution = execution;
  }
}

export type RunOptions = {
  /** Aborts when the caller gives up. */
  readonly signal?: AbortSignal | undefined;
  /** Called when it is the call's turn, however late; false: somebody else has started the call. */
  readonly claim?: (() => Promise<boolean>) | undefined;
  /**
   * Reads the values that a generator handler yields. Without it the executor reads the generator
   * to its end.
   */
  readonly reader?: StreamReader | undefined;
};

export type StreamReader = {
  readonly take: (stream: AsyncGenerator<unknown, unknown, unknown>) => void;
  /** Awaited before the reader sees the end. */
  readonly recorded: () => Promise<unknown>;
};

export type ExecutorParts<Call> = {
  readonly clock: Clock;
  /** Resolves when the report is safe: in the journal, or at least in the log. */
  readonly report: (call: Call, report: ExecutionReport) => Promise<void>;
  /** Receives errors that no caller waits for: a late result that could not be reported. */
  readonly onLateError: (call: Call, error: unknown) => void;
};

/** The running and waiting writes of a conversation. */
type Writes = {
  /** The step of the latest writes. */
  readonly step: string | null;
  /** The writes of earlier steps, which must end first. */
  readonly before: Promise<unknown>;
  readonly all: Promise<unknown>;
};

/** A name that calls of one step share within their conversation; null if the call has no step. */
export function stepName(turn: string | null, step: string | null): string | null {
  return step === null ? null : JSON.stringify([turn, step]);
}

export class Executor<Call extends ExecutableCall = ExecutableCall> {
  readonly #parts: ExecutorParts<Call>;
  /** By conversation, only while it has unfinished writes. */
  readonly #writes = new Map<string, Writes>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #abort = new AbortController();

  constructor(parts: ExecutorParts<Call>) {
    this.#parts = parts;
    allowManyListeners(this.#abort.signal);
  }

  /** @throws NotClaimedError: the call has not run; NotRecordedError. Nothing else. */
  run(call: Call, handler: Handler, options: RunOptions = {}): Promise<Execution> {
    const run = call.isRead
      ? this.#execute(call, handler, options)
      : this.#afterWrites(call, () => this.#execute(call, handler, options));
    this.#running.add(run);
    const ended = (): void => {
      this.#running.delete(run);
    };
    run.then(ended, ended);
    return run;
  }

  /**
   * Resolves when nothing runs any more. After `timeoutMs`, running calls are aborted and become
   * `unknown`, and calls that still wait for their turn are not executed.
   */
  async close(timeoutMs: number): Promise<void> {
    const abort = (): void => this.#abort.abort(new Error("the gate is closing"));
    const stopTimer = startTimer(timeoutMs, abort);
    while (this.#running.size > 0) await Promise.allSettled([...this.#running]);
    stopTimer();
  }

  #afterWrites(call: Call, run: () => Promise<Execution>): Promise<Execution> {
    const { conversation, step } = call;
    const earlier = this.#writes.get(conversation);
    const beside = step !== null && earlier?.step === step ? earlier : undefined;
    const before = beside?.before ?? earlier?.all ?? Promise.resolve();
    const execution = before.then(run);
    const ended = execution.catch(() => undefined);
    const all = beside === undefined ? ended : Promise.all([beside.all, ended]);
    const writes = { step, before, all };
    this.#writes.set(conversation, writes);
    void all.then(() => {
      if (this.#writes.get(conversation) === writes) this.#writes.delete(conversation);
    });
    return execution;
  }

  async #execute(call: Call, handler: Handler, options: RunOptions): Promise<Execution> {
    const { signal: caller, claim } = options;
    const own = this.#abort.signal;
    const { signal: abortSignal, unlink } = linkSignals(
      caller === undefined ? [own] : [own, caller],
    );
    try {
      if (claim !== undefined && !(await claimed(claim))) return { type: "not_claimed" };
      const why = this.#whyNotStarted(call, abortSignal);
      if (why !== null) return await this.#notExecuted(call, why, abortSignal);
      return await this.#start(call, handler, abortSignal, options.reader);
    } finally {
      unlink();
    }
  }

  #whyNotStarted(call: Call, abortSignal: AbortSignal): NotStarted | null {
    if (abortSignal.aborted) return this.#findAbortCause(abortSignal);
    return this.#parts.clock.nowMs() > call.notAfterMs ? "too_late" : null;
  }

  /** A linked signal has the reason of the source that aborted first. */
  #findAbortCause({ reason }: AbortSignal): AbortCause {
    const { signal } = this.#abort;
    return signal.aborted && reason === signal.reason ? "closed" : "aborted";
  }

  async #notExecuted(call: Call, why: NotStarted, abortSignal: AbortSignal): Promise<Execution> {
    const error = plainError(why, NOT_STARTED[why]);
    const execution = { type: "not_executed", why, reason: abortSignal.reason } as const;
    return this.#ended(call, execution, () => ({ status: "not_executed", error }));
  }

  /**
   * @throws NotRecordedError, whatever went wrong: a call that has ended must not count as one that
   *   never ran.
   */
  async #ended(
    call: Call,
    execution: Execution,
    report: () => ExecutionReport,
  ): Promise<Execution> {
    try {
      await this.#parts.report(call, report());
      return execution;
    } catch (error) {
      throw new NotRecordedError(execution, error);
    }
  }

  async #start(
    call: Call,
    handler: Handler,
    abortSignal: AbortSignal,
    reader: StreamReader | undefined,
  ): Promise<Execution> {
    const startedMs = this.#parts.clock.nowMs();
    const limit = new AbortController();
    const stopTimer = startTimer(call.timeLimitMs, () => limit.abort(timeLimitError(call)));
    const { signal, unlink } = linkSignals([abortSignal, limit.signal]);
    const { decisionId, callId, idempotencyKey } = call;
    const context = { decisionId, callId, idempotencyKey, signal };
    const handled = settled(async () =>
      read(await handler(call.arguments, context), signal, reader),
    );
    const execution = await Promise.race([handled, aborted(signal)]);
    stopTimer();
    unlink();
    const durationMs = this.#parts.clock.nowMs() - startedMs;
    if (execution !== null && isClosed(execution)) {
      return this.#unread(call, execution.error, durationMs);
    }
    if (execution !== null && !isAbortOf(signal, execution)) {
      return this.#ended(call, execution, () => reportOf(execution, durationMs));
    }
    if (execution === null) void this.#reportLate(call, handled, startedMs);
    const why = limit.signal.aborted ? "time_limit" : this.#findAbortCause(abortSignal);
    const message = why === "time_limit" ? timeLimitError(call).message : BROKEN_OFF[why];
    const unknownExecution = { type: "unknown", why, reason: signal.reason } as const;
    const error = plainError(why, message);
    return this.#ended(call, unknownExecution, () => ({ status: "unknown", error, durationMs }));
  }

  /** The reader closed the generator before its end. */
  #unread(call: Call, reason: GeneratorClosedError, durationMs: number): Promise<Execution> {
    const execution = { type: "unknown", why: "aborted", reason } as const;
    const error = plainError("closed", reason.message);
    return this.#ended(call, execution, () => ({ status: "unknown", error, durationMs }));
  }

  /** A late success is definite; a failure after an abort may be the abort itself. */
  async #reportLate(call: Call, handled: Promise<Settled>, startedMs: number): Promise<void> {
    const execution = await handled;
    if (execution.type !== "succeeded") return;
    const durationMs = this.#parts.clock.nowMs() - startedMs;
    try {
      await this.#parts.report(call, reportOf(execution, durationMs));
    } catch (error) {
      this.#parts.onLateError(call, error);
    }
  }
}

type NotStarted = Extract<Execution, { type: "not_executed" }>["why"];

const NOT_STARTED: Readonly<Record<NotStarted, string>> = {
  too_late: "not started in time",
  aborted: "given up before its start",
  closed: "its executor was closed before its start",
};

const BROKEN_OFF: Readonly<Record<AbortCause, string>> = {
  aborted: "given up while it ran",
  closed: "its executor was closed while it ran",
};

/** @throws NotClaimedError */
async function claimed(claim: () => Promise<boolean>): Promise<boolean> {
  try {
    return await claim();
  } catch (error) {
    throw new NotClaimedError(error);
  }
}

type Settled = Extract<Execution, { type: "succeeded" | "failed" }>;

async function settled(run: () => unknown): Promise<Settled> {
  try {
    return { type: "succeeded", value: await run() };
  } catch (error) {
    return { type: "failed", error };
  }
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(null);
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });
}

/** The handler noticed the abort and stopped by itself. */
function isAbortOf(signal: AbortSignal, execution: Settled): boolean {
  if (!signal.aborted || execution.type !== "failed") return false;
  return execution.error === signal.reason || isAbortError(execution.error);
}

function reportOf(execution: Settled, durationMs: number): ExecutionReport {
  if (execution.type === "failed") {
    const { error } = execution;
    const effect = effectOfThrown(error);
    return { status: "failed", error: describeThrown(error), effect, durationMs };
  }
  const { value } = execution;
  const form = failureForm(value);
  if (form === null) return { status: "succeeded", value, durationMs };
  const error = { code: null, message: form.message, retryable: null };
  return { status: "failed", error, effect: form.effect, value, durationMs };
}

async function read(
  value: unknown,
  signal: AbortSignal,
  reader: StreamReader | undefined,
): Promise<unknown> {
  if (!isGenerator(value)) return value;
  if (reader === undefined) return await readToEnd(value, signal);
  const { stream, ended } = passOn(value, signal, reader.recorded);
  reader.take(stream);
  return await ended;
}

function isClosed(
  execution: Settled,
): execution is { readonly type: "failed"; readonly error: GeneratorClosedError } {
  return execution.type === "failed" && isGeneratorClosed(execution.error);
}

function timeLimitError(call: ExecutableCall): Error {
  return new Error(`\`${call.tool}\` ran longer than ${call.timeLimitMs} ms`);
}

function plainError(code: string, message: string): CallError {
  return { code, message, retryable: null };
}
