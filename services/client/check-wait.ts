/** What callers without types hand over to wait with, checked before anybody waits. */
import { CallgateError } from "./callgate-error.ts";
import type { WaitOptions } from "./gate-types.ts";
import { memberProblem } from "./members.ts";

const MEMBERS: Readonly<Record<keyof WaitOptions, true>> = { timeoutMs: true, signal: true };

/** @throws CallgateError `invalid_input` */
export function checkWait(options: WaitOptions): void {
  const problem = memberProblem(options, Object.keys(MEMBERS)) ?? valueProblem(options);
  if (problem === undefined) return;
  throw new CallgateError("invalid_input", `the call cannot be waited for: ${problem}`);
}

function valueProblem(options: WaitOptions): string | undefined {
  const { timeoutMs, signal }: Partial<Record<keyof WaitOptions, unknown>> = options;
  // Not a number is not below 0 either: a timer would take both for one millisecond.
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs >= 0)) {
    return "`timeoutMs` must be a number of milliseconds, 0 or more: without it there is no limit";
  }
  return isSignal(signal ?? null) ? undefined : "`signal` must be an AbortSignal";
}

/** Of whatever make: programs bring their own. */
function isSignal(given: unknown): boolean {
  if (given === null) return true;
  return typeof (given as Partial<AbortSignal>).addEventListener === "function";
}
