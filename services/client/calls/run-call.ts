/**
 * Runs the handlers of allowed calls. Retries nothing: whether a call may run again is for the gate to
 * say.
 *
 * RUN-1 writes of one conversation run one after the other, in the order they came, but those of one step, which were asked for
 *    together: they run side by side. Reads run beside all of them.
 * RUN-2 nothing starts after its `notAfterMs`, nor when its claim was not granted. The claim comes first: that a
 *    call was not executed says only who knows that nobody has started it.
 * RUN-3 every call that was handed over is reported, once it has ended and before its run resolves.
 * RUN-4 what was started and then given up is `unknown`: nobody can say whether it took effect.
 * RUN-5 a handler that is a generator has ended when it was read to its end (`generators.ts`).
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
  /** Names the conversation: its writes wait for each other. */
  readonly conversation: string;
  /** Names the step that asked for it, see `stepName`; null: a step of its own. */
  readonly step: string | null;
  readonly isRead: boolean;
  /** With the key in its place, see `argumentsWithKey`. */
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
      /** What the handler returned, in a form that says that the call failed. */
      readonly value?: unknown;
      readonly durationMs: number;
    }
  | { readonly status: "unknown"; readonly error: CallError; readonly durationMs: number }
  | { readonly status: "not_executed"; readonly error: CallError };

export type Execution =
  /** The handler returned; the value may say that the call failed (`core/failure-forms.ts`). */
  | { readonly type: "succeeded"; readonly value: unknown }
  | { readonly type: "failed"; readonly error: unknown }
  /** Given up after its start (`reason` is the signal's). */
  | { readonly type: "unknown"; readonly why: "time_limit" | AbortCause; readonly reason: unknown }
  | {
      readonly type: "not_executed";
      readonly why: "too_late" | AbortCause;
      readonly reason: unknown;
    }
  | { readonly type: "not_claimed" };

/** By the caller, or because the executor was closed. */
type AbortCause = "aborted" | "closed";

/** The claim got no answer: the call has not run. */
export class NotClaimedError extends Error {
  override readonly name = "NotClaimedError";

  constructor(cause: unknown) {
    super("the claim of a call got no answer: it has not run", { cause });
  }
}

/** The call has ended, and what came of it could not be recorded: the gate counts it as under way. */
export class NotRecordedError extends Error {
  override readonly name = "NotRecordedError";
  readonly execution: Execution;

  constructor(execution: Execution, cause: unknown) {
    super("what came of a call could not be recorded", { cause });
    this.execution = execution;
  }
}

export type RunOptions = {
  /** The caller gives up. */
  readonly signal?: AbortSignal | undefined;
  /** Asked when the call's turn has come, however late; false: somebody else has started the call. */
  readonly claim?: (() => Promise<boolean>) | undefined;
  /** Reads what a handler yields that is a generator, as it comes. Without it the executor reads it to its end. */
  readonly reader?: StreamReader | undefined;
};

export type StreamReader = {
  readonly take: (stream: AsyncGenerator<unknown, unknown, unknown>) => void;
  /** The reader hears of the end after it. */
  readonly recorded: () => Promise<unknown>;
};

export type ExecutorParts<Call> = {
  readonly clock: Clock;
  /** Resolves when the report is safe: journaled, or at least in the log. */
  readonly report: (call: Call, report: ExecutionReport) => Promise<void>;
  /** Told of what nobody waits for: a late result that could not be reported. */
  readonly onLateError: (call: Call, error: unknown) => void;
};

/** The writes of a conversation that are under way. */
type Writes = {
  /** Of those that came last. */
  readonly step: string | null;
  /** What these have to wait for: the writes of the steps before. */
  readonly before: Promise<unknown>;
  readonly all: Promise<unknown>;
};

/** What calls of one step have in common within their conversation; null where no step is known. */
export function stepName(turn: string | null, step: string | null): string | null {
  return step === null ? null : JSON.stringify([turn, step]);
}

export class Executor<Call extends ExecutableCall = ExecutableCall> {
  readonly #parts: ExecutorParts<Call>;
  /** Of each conversation that has any under way. */
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
   * Resolves when nothing runs any more. What still runs after the time is aborted, and `unknown`; what waits for its
   * turn then is not executed.
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

  /** A linked signal has the reason of the one that was first. */
  #findAbortCause({ reason }: AbortSignal): AbortCause {
    const { signal } = this.#abort;
    return signal.aborted && reason === signal.reason ? "closed" : "aborted";
  }

  async #notExecuted(call: Call, why: NotStarted, abortSignal: AbortSignal): Promise<Execution> {
    const error = plainError(why, NOT_STARTED[why]);
    const execution = { type: "not_executed", why, reason: abortSignal.reason } as const;
    return this.#ended(call, execution, () => ({ status: "not_executed", error }));
  }

  /** @throws NotRecordedError, whatever is the matter: a call that has ended does not count as one that has not run. */
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

  /** Its reader closed the generator before its end. */
  #unread(call: Call, reason: GeneratorClosedError, durationMs: number): Promise<Execution> {
    const execution = { type: "unknown", why: "aborted", reason } as const;
    const error = plainError("closed", reason.message);
    return this.#ended(call, execution, () => ({ status: "unknown", error, durationMs }));
  }

  /** A success after all is definite; a failure after an abort may be the abort itself. */
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

/** The handler heard the abort and gave up, in its own time. */
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
