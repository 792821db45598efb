/** What programs without types hand over when they open a gate, connect to one or close it. */
import { CallgateError } from "./callgate-error.ts";
import type { ConnectOptions } from "./connect-types.ts";
import type { GuardOptions, OpenOptions } from "./gate-types.ts";
import { memberProblem } from "./members.ts";

type Shared = Pick<
  OpenOptions & ConnectOptions,
  "secret" | "timeoutMs" | "onLost" | "onDecision" | "token"
>;

/** What is wrong with members that both have, or with a name of a member; undefined: nothing. */
export function optionsProblem(options: Shared, known: readonly string[]): string | undefined {
  return memberProblem(options, known) ?? sharedProblem(options);
}

function sharedProblem({
  secret,
  timeoutMs,
  onLost,
  onDecision,
  token,
}: Shared): string | undefined {
  if (secret !== undefined && typeof secret !== "string" && !(secret instanceof Uint8Array)) {
    return "`secret` must be text or bytes: await it if it is a promise";
  }
  if (token !== undefined && typeof token !== "function" && !isText(token)) {
    return "`token` must be text, or a function that gives it";
  }
  if (onLost !== undefined && typeof onLost !== "function") return "`onLost` must be a function";
  if (onDecision !== undefined && typeof onDecision !== "function") return NO_LISTENER;
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
