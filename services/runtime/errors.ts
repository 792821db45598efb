/**
 * The errors of the pipeline, by what the loop must do next.
 *
 * | class              | disposition | the task                                                 |
 * |--------------------|-------------|----------------------------------------------------------|
 * | RetryableError     | retry       | waits, takes the partition over again, bounded           |
 * | PoisonRecordError  | quarantine  | writes a dead letter in the same transaction and goes on |
 * | StateCorruptError  | rebuild     | drops its state and restores from the journal            |
 * | FencedError        | fenced      | drops everything and closes; commits nothing             |
 * | FatalError         | fatal       | closes; an operator must act                             |
 *
 * A refused call is none of these: it is a decision.
 */
export type Disposition = "retry" | "quarantine" | "rebuild" | "fenced" | "fatal";

/** Every code that a pipeline error may carry, with its disposition. */
export const ERROR_DISPOSITIONS = {
  log_unavailable: "retry",
  log_full: "retry",
  outcome_unknown: "retry",
  checkpoint_unavailable: "retry",
  schema_unavailable: "retry",
  undecodable: "quarantine",
  too_large: "quarantine",
  state_corrupt: "rebuild",
  fenced: "fenced",
  role_taken: "fatal",
  journal_broken: "fatal",
  journal_lost: "fatal",
  offsets_ahead: "fatal",
  journal_out_of_reach: "fatal",
  input_out_of_reach: "fatal",
  retention_too_short: "fatal",
  log_corrupt: "fatal",
  log_unreadable: "fatal",
  log_mismatch: "fatal",
  secret_missing: "fatal",
  registry_refused: "fatal",
  schema_incompatible: "fatal",
  closed: "fatal",
  unexpected: "fatal",
} as const satisfies Record<string, Disposition>;

export type ErrorCode = keyof typeof ERROR_DISPOSITIONS;

type CodeOf<D extends Disposition> = {
  [C in ErrorCode]: (typeof ERROR_DISPOSITIONS)[C] extends D ? C : never;
}[ErrorCode];

export type ErrorOptions = {
  readonly cause?: unknown;
  /** Plain data for the log: positions, paths, counts; never a payload. */
  readonly context?: Readonly<Record<string, string | number | boolean>>;
};

export abstract class PipelineError extends Error {
  abstract readonly disposition: Disposition;
  readonly code: ErrorCode;
  readonly context: Readonly<Record<string, string | number | boolean>>;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.context = options.context ?? {};
  }
}

export class RetryableError extends PipelineError {
  readonly disposition = "retry";

  constructor(code: CodeOf<"retry">, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

export class PoisonRecordError extends PipelineError {
  readonly disposition = "quarantine";

  constructor(code: CodeOf<"quarantine">, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

export class StateCorruptError extends PipelineError {
  readonly disposition = "rebuild";

  constructor(message: string, options?: ErrorOptions) {
    super("state_corrupt", message, options);
  }
}

export class FencedError extends PipelineError {
  readonly disposition = "fenced";

  constructor(message: string, options?: ErrorOptions) {
    super("fenced", message, options);
  }
}

export class FatalError extends PipelineError {
  readonly disposition = "fatal";

  constructor(code: CodeOf<"fatal">, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/**
 * What to do about anything that was thrown. Total: an unknown error is fatal, because a retry
 * could repeat a wrong write.
 */
export function classify(error: unknown): Disposition {
  return error instanceof PipelineError ? error.disposition : "fatal";
}

/** The pipeline error itself, or a fatal one that wraps what was thrown. */
export function asPipelineError(error: unknown): PipelineError {
  if (error instanceof PipelineError) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new FatalError("unexpected", text, { cause: error });
}
