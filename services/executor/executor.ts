/**
 * Runs the handlers of allowed calls. Retries nothing: whether a call may run again is for the gate to
 * say.
 *
 * E1 writes of one conversation run one after the other, in the order they came; reads run beside them.
 * E2 nothing starts after its `notAfterMs`, nor when its claim was not granted. The claim comes first: that a
 *    call was not executed says only who knows that nobody has started it.
 * E3 every call that was handed over is reported, once it has ended and before its run resolves.
 * E4 what was started and then given up is `unknown`: nobody can say whether it took effect.
 */
import { allowManyListeners } from "../adapters/system/many-listeners.ts";
import type { JsonObject } from "../core/canonical/json-value.ts";
import { cutText } from "../core/cut-text.ts";
import type { CallError } from "../core/inputs.ts";
import type { Clock } from "../runtime/ports.ts";
import { linkSignals } from "./linked-signal.ts";

/** Timers hold no more than 31 bits. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export type ExecutableCall = {
  readonly decisionId: string;
  readonly callId: string;
  readonly tool: string;
  /** Names the conversation: its writes wait for each other. */
  readonly conversation: string;
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
  | { readonly status: "failed"; readonly error: CallError; readonly durationMs: number }
  | { readonly status: "unknown"; readonly error: CallError; readonly durationMs: number }
  | { readonly status: "not_executed"; readonly error: CallError };

export type Execution =
  | { readonly type: "succeeded"; readonly value: unknown }
  | { readonly type: "failed"; readonly error: unknown }
  /** Given up after its start: by the time limit, or by the caller (`reason` is the signal's). */
  | { readonly type: "unknown"; readonly why: "time_limit" | "aborted"; readonly reason: unknown }
  | {
      readonly type: "not_executed";
      readonly why: "too_late" | "aborted";
      readonly reason: unknown;
    }
  | { readonly type: "not_claimed" };

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
};

export type ExecutorParts<Call> = {
  readonly clock: Clock;
  /** Resolves when the report is safe: journaled, or at least in the log. */
  readonly report: (call: Call, report: ExecutionReport) => Promise<void>;
  /** Told of what nobody waits for: a late result that could not be reported. */
  readonly onLateError: (call: Call, error: unknown) => void;
};

export class Executor<Call extends ExecutableCall = ExecutableCall> {
  readonly #parts: ExecutorParts<Call>;
  /** The last write of each conversation that has one under way. */
  readonly #writes = new Map<string, Promise<unknown>>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #abort = new AbortController();

  constructor(parts: ExecutorParts<Call>) {
    this.#parts = parts;
    allowManyListeners(this.#abort.signal);
  }

  /** @throws NotRecordedError; what the claim threw: the call has not run. */
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

  /** Resolves when nothing runs any more. What still runs after the time is aborted, and `unknown`. */
  async close(timeoutMs: number): Promise<void> {
    const abort = (): void => this.#abort.abort(new Error("the gate is closing"));
    const timer = setTimeout(abort, Math.min(timeoutMs, TIMER_MS_MAX));
    while (this.#running.size > 0) await Promise.allSettled([...this.#running]);
    clearTimeout(timer);
  }

  #afterWrites(call: Call, run: () => Promise<Execution>): Promise<Execution> {
    const before = this.#writes.get(call.conversation) ?? Promise.resolve();
    const execution = before.then(run, run);
    const last = execution.catch(() => undefined);
    this.#writes.set(call.conversation, last);
    void last.then(() => {
      if (this.#writes.get(call.conversation) === last) this.#writes.delete(call.conversation);
    });
    return execution;
  }

  async #execute(call: Call, handler: Handler, options: RunOptions): Promise<Execution> {
    const { signal: caller, claim } = options;
    const own = this.#abort.signal;
    const { signal: given, unlink } = linkSignals(caller === undefined ? [own] : [own, caller]);
    try {
      if (claim !== undefined && !(await claim())) return { type: "not_claimed" };
      const late = this.#tooLate(call, given);
      if (late !== null) return await this.#notExecuted(call, late, given);
      return await this.#start(call, handler, given);
    } finally {
      unlink();
    }
  }

  #tooLate(call: Call, given: AbortSignal): "too_late" | "aborted" | null {
    if (given.aborted) return "aborted";
    return this.#parts.clock.nowMs() > call.notAfterMs ? "too_late" : null;
  }

  async #notExecuted(
    call: Call,
    why: "too_late" | "aborted",
    given: AbortSignal,
  ): Promise<Execution> {
    const message = why === "aborted" ? "given up before its start" : "not started in time";
    const report = { status: "not_executed", error: plainError(why, message) } as const;
    return this.#ended(call, { type: "not_executed", why, reason: given.reason }, report);
  }

  async #ended(call: Call, execution: Execution, report: ExecutionReport): Promise<Execution> {
    try {
      await this.#parts.report(call, report);
      return execution;
    } catch (error) {
      throw new NotRecordedError(execution, error);
    }
  }

  async #start(call: Call, handler: Handler, given: AbortSignal): Promise<Execution> {
    const startedMs = this.#parts.clock.nowMs();
    const limit = new AbortController();
    const limitMs = Math.min(call.timeLimitMs, TIMER_MS_MAX);
    const timer = setTimeout(() => limit.abort(timeLimitError(call)), limitMs);
    const { signal, unlink } = linkSignals([given, limit.signal]);
    const { decisionId, callId, idempotencyKey } = call;
    const context = { decisionId, callId, idempotencyKey, signal };
    const handled = settled(() => handler(call.arguments, context));
    const execution = await Promise.race([handled, aborted(signal)]);
    clearTimeout(timer);
    unlink();
    const durationMs = this.#parts.clock.nowMs() - startedMs;
    if (execution === null || isAbortOf(signal, execution)) {
      const why = limit.signal.aborted ? "time_limit" : "aborted";
      const message = why === "aborted" ? "given up while it ran" : timeLimitError(call).message;
      const error = plainError(why, message);
      if (execution === null) void this.#reportLate(call, handled, startedMs);
      const givenUp = { type: "unknown", why, reason: signal.reason } as const;
      return this.#ended(call, givenUp, { status: "unknown", error, durationMs });
    }
    return this.#ended(call, execution, reportOf(execution, durationMs));
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
  const { error } = execution;
  return (
    error === signal.reason || (error instanceof Error && read(error, "name") === "AbortError")
  );
}

function reportOf(execution: Settled, durationMs: number): ExecutionReport {
  if (execution.type === "succeeded") {
    return { status: "succeeded", value: execution.value, durationMs };
  }
  return { status: "failed", error: callErrorOf(execution.error), durationMs };
}

function timeLimitError(call: ExecutableCall): Error {
  return new Error(`\`${call.tool}\` ran longer than ${call.timeLimitMs} ms`);
}

function plainError(code: string, message: string): CallError {
  return { code, message, retryable: null };
}

const CODE_CHARACTERS = 200;

/**
 * What a thrown thing says of itself: `code` or `status`, and `retryable` where it has one. Never throws,
 * whatever the thing does when it is read.
 */
export function callErrorOf(error: unknown): CallError {
  if (typeof error !== "object" || error === null) return plain(String(error));
  const code = ["code", "status", "statusCode"].map((name) => read(error, name)).find(isCode);
  const retryable = read(error, "retryable");
  return {
    code: code === undefined ? null : cutText(String(code), CODE_CHARACTERS),
    message: messageOf(error),
    retryable: typeof retryable === "boolean" ? retryable : null,
  };
}

function read(error: object, name: string): unknown {
  try {
    return Reflect.get(error, name);
  } catch {
    return undefined;
  }
}

function plain(message: string): CallError {
  return { code: null, message, retryable: null };
}

function isCode(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

function messageOf(error: object): string {
  const message = read(error, "message");
  return typeof message === "string" ? message : "something that is no error was thrown";
}
