/** Checks what untyped programs pass when they open, connect to or close a gate. */

import { CallgateError } from "../api/callgate-error.ts";
import type { ConnectOptions } from "../api/connect-types.ts";
import type { GuardOptions, OpenOptions, WaitOptions } from "../api/gate-types.ts";

type Shared = Pick<OpenOptions & ConnectOptions, "secret" | "timeoutMs" | "onLost" | "token">;

/**
 * The problem of the members that both kinds of options share, or of a member's name; undefined if
 * there is none.
 */
export function optionsProblem(options: Shared, names: readonly string[]): string | undefined {
  return memberProblem(options, names) ?? sharedProblem(options);
}

function sharedProblem({ secret, timeoutMs, onLost, token }: Shared): string | undefined {
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  if (
    secret !== undefined &&
    !secrets.every((one) => typeof one === "string" || one instanceof Uint8Array)
  ) {
    return "`secret` must be text or bytes: await it if it is a promise";
  }
  if (token !== undefined && typeof token !== "function" && !isText(token)) {
    return "`token` must be text, or a function that returns it";
  }
  if (onLost !== undefined && typeof onLost !== "function") return "`onLost` must be a function";
  if (timeoutMs === undefined || (Number.isFinite(timeoutMs) && timeoutMs > 0)) return undefined;
  return "`timeoutMs` must be a number of milliseconds above 0";
}

const NO_LISTENER = "`onDecision` must be a function";

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

/** @throws CallgateError `invalid_input` */
export function checkClose(options: { readonly timeoutMs?: number }): void {
  const problem = memberProblem(options, ["timeoutMs"]) ?? timeProblem(options.timeoutMs);
  if (problem === undefined) return;
  throw new CallgateError("invalid_input", `the gate cannot be closed: ${problem}`);
}

const ANSWER_FORMS: readonly unknown[] = ["noted", "bare", "wrapped"];

/** @throws CallgateError `invalid_input` */
export function checkGuardOptions(options: GuardOptions): void {
  const { answers, onDecision } = options;
  const isForm = answers === undefined || ANSWER_FORMS.includes(answers);
  const isListener = onDecision === undefined || typeof onDecision === "function";
  const problem =
    memberProblem(options, ["answers", "onDecision"]) ??
    (isForm ? undefined : "`answers` must be noted, bare or wrapped") ??
    (isListener ? undefined : NO_LISTENER);
  if (problem === undefined) return;
  throw new CallgateError("invalid_input", `the tools cannot be guarded: ${problem}`);
}

function timeProblem(timeoutMs: unknown): string | undefined {
  if (timeoutMs === undefined || (typeof timeoutMs === "number" && timeoutMs >= 0))
    return undefined;
  return "`timeoutMs` must be a number of milliseconds, 0 or more";
}

const MEMBERS: Readonly<Record<keyof WaitOptions, true>> = { timeoutMs: true, signal: true };

/** @throws CallgateError `invalid_input` */
export function checkWait(options: WaitOptions): void {
  const problem = memberProblem(options, Object.keys(MEMBERS)) ?? valueProblem(options);
  if (problem === undefined) return;
  throw new CallgateError("invalid_input", `the call cannot be waited for: ${problem}`);
}

function valueProblem(options: WaitOptions): string | undefined {
  const { timeoutMs, signal }: Partial<Record<keyof WaitOptions, unknown>> = options;
  // NaN is not below 0 either: a timer would treat both as one millisecond.
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs >= 0)) {
    return "`timeoutMs` must be a number of milliseconds, 0 or more: without it there is no limit";
  }
  return isSignal(signal ?? null) ? undefined : "`signal` must be an AbortSignal";
}

/** Accepts any implementation, because programs bring their own. */
function isSignal(signal: unknown): boolean {
  if (signal === null) return true;
  return typeof (signal as Partial<AbortSignal>).addEventListener === "function";
}

/**
 * The problem of the members' names; undefined if there is none. Without this check, a misspelled
 * name would be ignored.
 */
export function memberProblem(input: unknown, names: readonly string[]): string | undefined {
  if (typeof input !== "object" || input === null) return "it must be an object";
  const unknown = Object.keys(input).find((name) => !names.includes(name));
  if (unknown === undefined) return undefined;
  return `\`${unknown.slice(0, 40)}\` is unknown; use one of ${names.join(", ")}`;
}
