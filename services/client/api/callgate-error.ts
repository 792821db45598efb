import type { PolicyProblem } from "../../core/policy/problem.ts";
import { asPipelineError, type ErrorCode } from "../../runtime/errors.ts";

/**
 * | code                 | what happened, and what to do                                          |
 * |----------------------|------------------------------------------------------------------------|
 * | `policy_invalid`     | the policy has the listed problems: correct the lines they name        |
 * | `policy_unreadable`  | a policy file cannot be read: check the path                           |
 * | `data_dir_in_use`    | another gate uses the directory: the message says what to do          |
 * | `data_dir_unusable`  | the directory or its log cannot be used: the message says why          |
 * | `secret_unreadable`  | the secret exists and cannot be used: restore it or its permissions    |
 * | `storage_full`       | nothing was written: free space, then ask again with the same call id  |
 * | `storage_unavailable`| the outcome is unknown: ask again with the same call id                |
 * | `invalid_input`      | an argument of the API is wrong: a mistake in the calling program      |
 * | `unknown_approval`   | no call is held under that id: it was answered, or has expired         |
 * | `unknown_decision`   | the journal has no decision with that id                               |
 * | `reason_required`    | the policy requires a reason with the approval                         |
 * | `self_approval`      | an agent cannot approve its own call                                   |
 * | `dead_letter`        | the input could not be processed and was stored as a dead letter       |
 * | `result_not_recorded`| the tool ran, and its result is not in the journal: `output`, `thrown` |
 * | `timeout`            | no answer within the time limit; it may still come                     |
 * | `time_limit`         | the tool ran longer than the policy allows                             |
 * | `closed`             | the gate is closed, or has lost its data directory: open it again      |
 */
export type CallgateErrorCode =
  | "policy_invalid"
  | "policy_unreadable"
  | "data_dir_in_use"
  | "data_dir_unusable"
  | "secret_unreadable"
  | "storage_full"
  | "storage_unavailable"
  | "invalid_input"
  | "unknown_approval"
  | "unknown_decision"
  | "reason_required"
  | "self_approval"
  | "dead_letter"
  | "result_not_recorded"
  | "timeout"
  | "time_limit"
  | "closed";

export type CallgateErrorOptions = {
  readonly cause?: unknown;
  readonly problems?: readonly PolicyProblem[];
  readonly pid?: number;
  readonly output?: unknown;
  readonly thrown?: unknown;
};

/** Every error that this library throws by itself. A refused call is a decision, not an error. */
export class CallgateError extends Error {
  override readonly name = "CallgateError";
  readonly code: CallgateErrorCode;
  /** The problems of the policy, each with file, line and column; else empty. */
  readonly problems: readonly PolicyProblem[];
  /** The process that holds the data directory (`data_dir_in_use`), if the library can tell. */
  readonly pid: number | undefined;
  /** What the tool returned (`result_not_recorded`). */
  readonly output: unknown;
  /** What the tool threw, or the reason why its run was given up (`result_not_recorded`). */
  readonly thrown: unknown;

  constructor(code: CallgateErrorCode, message: string, options: CallgateErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.problems = options.problems ?? [];
    this.pid = options.pid;
    this.output = options.output;
    this.thrown = options.thrown;
  }
}

const CODES: { readonly [code in ErrorCode]: CallgateErrorCode } = {
  log_unavailable: "storage_unavailable",
  log_full: "storage_full",
  outcome_unknown: "storage_unavailable",
  checkpoint_unavailable: "storage_unavailable",
  schema_unavailable: "storage_unavailable",
  undecodable: "invalid_input",
  too_large: "invalid_input",
  state_corrupt: "data_dir_unusable",
  fenced: "closed",
  role_taken: "data_dir_in_use",
  journal_broken: "data_dir_unusable",
  journal_lost: "data_dir_unusable",
  journal_out_of_reach: "data_dir_unusable",
  input_out_of_reach: "data_dir_unusable",
  retention_too_short: "policy_invalid",
  offsets_ahead: "data_dir_unusable",
  log_corrupt: "data_dir_unusable",
  log_unreadable: "data_dir_unusable",
  log_mismatch: "data_dir_unusable",
  secret_missing: "secret_unreadable",
  registry_refused: "data_dir_unusable",
  schema_incompatible: "data_dir_unusable",
  closed: "closed",
  unexpected: "data_dir_unusable",
};

/**
 * Converts an error of the pipeline into a `CallgateError`; returns a `CallgateError` unchanged.
 */
export function asCallgateError(error: unknown): CallgateError {
  if (error instanceof CallgateError) return error;
  const { code, message, context } = asPipelineError(error);
  const pid = context["pid"];
  return new CallgateError(CODES[code], message, {
    cause: error,
    ...(typeof pid === "number" ? { pid } : {}),
  });
}
