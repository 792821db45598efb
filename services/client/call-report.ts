import type { CallError, FailureEffect, Money, ResultStatus, StatusBasis } from "../core/inputs.ts";
import type { ExecutionReport } from "./run-call.ts";

/** What became of an allowed call. */
export type CallReport = {
  readonly status: ResultStatus;
  /**
   * Of a failed call: `none` where it certainly took no effect, so that it may run again as a new one;
   * `possible` where it may have. Default `possible` for a write, `none` for a read.
   */
  readonly effect?: FailureEffect;
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

/** A report as this program makes it: of a value that a handler returned nobody has said that it is a success. */
export type JudgedReport = CallReport & { readonly basis?: StatusBasis };

/** What the executor found out about a call, as it is reported. */
export function reportOfExecution(report: ExecutionReport): JudgedReport {
  switch (report.status) {
    case "succeeded": {
      const { status, value: output, durationMs } = report;
      return { status, output, durationMs, basis: "returned" };
    }
    case "failed": {
      const { value: output, ...failed } = report;
      return output === undefined ? failed : { ...failed, output, basis: "returned" };
    }
    case "unknown":
    case "not_executed":
      return report;
  }
}
