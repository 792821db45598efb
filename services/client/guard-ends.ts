/** What the callers of guarded tools hear where a call did not end with a value. */

import { CallgateError } from "./callgate-error.ts";
import type { Decision, StoredResult } from "./gate-types.ts";
import type { Execution } from "./run-call.ts";

export const OTHER_SECRET =
  "This call was not run: this program does not have the secret under which the gate has decided it.";

export const NOT_EXECUTED =
  "This call was not run, and does not run any more under its call id. Make it again as a new call.";

/** What the handler threw, as far as the journal has it. */
export function failureOf({ error }: StoredResult): Error {
  const failure = new Error(error?.message ?? "the call failed before: what it threw was not told");
  const code = error?.code ?? null;
  return code === null ? failure : Object.assign(failure, { code });
}

/** What the tool gave or threw, or what it was given up for. */
export function endOf(execution: Execution): {
  readonly output?: unknown;
  readonly thrown?: unknown;
} {
  switch (execution.type) {
    case "succeeded":
      return { output: execution.value };
    case "failed":
      return { thrown: execution.error };
    case "unknown":
      return { thrown: execution.reason };
    case "not_executed":
    case "not_claimed":
      return {};
  }
}

export function brokenOff({ tool }: Decision): CallgateError {
  return new CallgateError(
    "closed",
    `\`${tool}\` was broken off as the gate was closed: it may have taken effect; find out before it is ` +
      "called again, or give `close` a longer `timeoutMs`",
  );
}

export function timeLimit({ tool, timeLimitMs }: Decision): CallgateError {
  return new CallgateError(
    "time_limit",
    `\`${tool}\` ran longer than its ${timeLimitMs} ms and was given up: whether it took effect is not ` +
      "known; set `time_limit_ms` of the tool in the policy if it needs more",
  );
}
