import type { CallError, Money, ResultStatus } from "../core/inputs.ts";

/** What became of an allowed call. */
export type CallReport = {
  readonly status: ResultStatus;
  /** Text as it is; anything else as its JSON, which is not whole where that cannot give it back. */
  readonly output?: unknown;
  readonly error?: {
    readonly message: string;
    readonly code?: CallError["code"];
    readonly retryable?: CallError["retryable"];
  };
  readonly durationMs?: number;
  readonly cost?: Money;
};
