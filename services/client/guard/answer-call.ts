/** What a guarded tool returns or throws once its call has ended or cannot run. */
import type { CallRefused } from "../../core/events.ts";
import { CallgateError } from "../api/callgate-error.ts";
import type { CallRefusal, Decision, StoredResult } from "../api/gate-types.ts";
import { type Refused, refusedOf } from "../api/refused.ts";
import { type Execution, NotRecordedError } from "../calls/run-call.ts";
import { notRun } from "../decisions/decision-view.ts";
import type { EndedCall } from "../journal/stored-result.ts";
import { EarlierOutput, earlierOutputOf } from "./present-answer.ts";

/** A call that was decided. */
export type DecidedCall = {
  readonly decision: Decision;
  /** The caller chose the call id, or an approval id, so it may propose the call again. */
  readonly hasName: boolean;
  /** Revision of the policy, for refusals that the client makes. */
  readonly policy: string;
};

const OTHER_SECRET =
  "This call was not run: this program does not have the secret under which the gate has decided it.";

const NOT_EXECUTED =
  "This call was not run, and can no longer run under its call id. Make it again as a new call.";

/**
 * Answers a call that the gate refused: with the refusal, or with the earlier output that answers
 * it.
 */
export function answerRefused(decision: Decision, event: CallRefused | null): unknown {
  const earlier = event === null ? null : earlierOutputOf(event);
  return earlier ?? refusedOf(decision, refusalOrUnavailable(decision));
}

export function refusalOrUnavailable(decision: Decision): CallRefusal {
  return decision.refusal ?? notRun(decision, "gate_unavailable", "");
}

/** Refuses an allowed call that does not run (again). */
export function refuseRun(call: DecidedCall, reason: CallRefusal["reason"]): Refused {
  return refusedOf(call.decision, notRun(call.decision, reason, call.policy));
}

/** Refuses a call that was decided under a secret that this program does not have. */
export function refuseKeyless({ decision, policy }: DecidedCall): Refused {
  const refusal = notRun(decision, "gate_unavailable", policy);
  return refusedOf(decision, { ...refusal, message: OTHER_SECRET });
}

/** A call with an id of the caller's is over; one without will get another id the next time. */
export function refuseUnrun({ decision, hasName, policy }: DecidedCall, why = "too_late"): Refused {
  const refusal = notRun(decision, "gate_unavailable", policy);
  const message = hasName ? NOT_EXECUTED : refusal.message;
  const detail = why === "closed" ? "closed" : "timeout";
  return refusedOf(decision, { ...refusal, detail, message });
}

/**
 * @throws what the handler threw; CallgateError `time_limit`, `closed`; the reason of the caller's
 *   signal.
 */
export function answerExecution(execution: Execution, call: DecidedCall): unknown {
  switch (execution.type) {
    case "succeeded":
      return execution.value;
    case "failed":
      throw execution.error;
    case "unknown":
      if (execution.why === "aborted") throw execution.reason;
      throw execution.why === "closed" ? brokenOff(call.decision) : timeLimit(call.decision);
    case "not_executed":
      if (execution.why === "aborted") throw execution.reason;
      return refuseUnrun(call, execution.why);
    case "not_claimed":
      return refuseRun(call, "outcome_unknown");
  }
}

/**
 * Answers a call that ended before, with what the journal has of it. @throws what its handler
 * threw.
 */
export function answerEnded({ stored, returned }: EndedCall, call: DecidedCall): unknown {
  if (stored.status === "not_executed") return refuseUnrun(call);
  if (stored.status === "unknown") return refuseRun(call, "outcome_unknown");
  // A handler can also return an output that says that the call failed.
  if (stored.whole && returned) return new EarlierOutput(stored.output, null);
  if (stored.status === "failed") throw failureOf(stored);
  // The output is missing or incomplete, but the call did run.
  return refuseRun(call, "duplicate_call");
}

/**
 * The outcome of the call is not in the journal. @throws CallgateError `result_not_recorded` if the
 * call may have run.
 */
export function answerUnrecorded(error: unknown, call: DecidedCall): unknown {
  const isRun = error instanceof NotRecordedError;
  const { execution, cause } = isRun ? error : { execution: UNKNOWN_END, cause: error };
  if (execution.type === "not_executed") return answerExecution(execution, call);
  const why = cause instanceof Error ? cause.message : String(cause);
  throw new CallgateError(
    "result_not_recorded",
    `\`${call.decision.tool}\` ran, and its result could not be recorded: ${why}; the gate counts the ` +
      "call as under way until it is reported or reconciled",
    { cause, ...endOf(execution) },
  );
}

/** The outcome of a call if the executor itself failed. */
const UNKNOWN_END: Execution = { type: "unknown", why: "aborted", reason: undefined };

/** Rebuilds the error that the handler threw, as far as the journal has it. */
function failureOf({ error }: StoredResult): Error {
  const failure = new Error(
    error?.message ?? "the call failed earlier, and its error was not reported",
  );
  const code = error?.code ?? null;
  return code === null ? failure : Object.assign(failure, { code });
}

/** What the tool returned or threw, or the reason why it was given up. */
function endOf(execution: Execution): { readonly output?: unknown; readonly thrown?: unknown } {
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

function brokenOff({ tool }: Decision): CallgateError {
  return new CallgateError(
    "closed",
    `\`${tool}\` was aborted because the gate was closed: it may have taken effect; find out before it is ` +
      "called again, or pass a longer `timeoutMs` to `close`",
  );
}

function timeLimit({ tool, timeLimitMs }: Decision): CallgateError {
  return new CallgateError(
    "time_limit",
    `\`${tool}\` ran longer than its ${timeLimitMs} ms and was given up: whether it took effect is ` +
      "unknown; set `time_limit_ms` of the tool in the policy if it needs more",
  );
}
