/** Reports on calls: checks what a program passes, and builds the input for the gate. */

import { cutText } from "../../core/cut-text.ts";
import { sha256Hex } from "../../core/hash.ts";
import {
  type CallError,
  FAILURE_EFFECTS,
  type FailureEffect,
  type Money,
  RESULT_STATUSES,
  type ResultInput,
  type ResultStatus,
  type StatusBasis,
} from "../../core/inputs.ts";
import { LIMITS } from "../../core/limits.ts";
import { costProblem } from "../../wire/input-rules.ts";
import { CallgateError } from "../api/callgate-error.ts";
import { describeThrown } from "../calls/call-error.ts";
import type { ExecutionReport } from "../calls/run-call.ts";
import { findJsonExcess } from "../values/json-size.ts";
import { cutToBytes, isNearText, utf8Length, writeOutput } from "../values/output-text.ts";
import { memberProblem } from "./check-options.ts";

/** The same tag as in the core's output digests, so that a cut output equals the whole one. */
const OUTPUT_TAG = "callgate.output.v1";

const ERROR_CHARACTERS = 4_096;

export type ReportedCall = {
  readonly tenantId: string;
  readonly conversationId: string;
  readonly callId: string;
  readonly decisionId: string;
  readonly isRead: boolean;
};

/** @param outputBytes how many bytes of a read's output the gate stores. */
export function resultInput(
  call: ReportedCall,
  report: JudgedReport,
  outputBytes: number,
): ResultInput {
  const { tenantId, conversationId, callId, decisionId } = call;
  return {
    type: "result",
    ...{ tenantId, conversationId, callId, decisionId },
    status: report.status,
    ...(report.effect === undefined ? {} : { effect: report.effect }),
    ...(report.basis === undefined ? {} : { basis: report.basis }),
    ...outputOf(call, report, outputBytes),
    error: errorOf(report),
    durationMs: report.durationMs === undefined ? null : Math.max(0, Math.round(report.durationMs)),
    cost: report.cost ?? null,
  };
}

type SentOutput = Pick<ResultInput, "output" | "outputDigest" | "outputBytes">;

/**
 * Sends no more of a read's output than the gate stores; a larger read runs again. A write cannot
 * run again just to be looked at, so more of it is sent, and a refusal refers to it.
 */
function outputOf(
  call: ReportedCall,
  { output, whole = true }: JudgedReport,
  outputBytes: number,
): SentOutput {
  // An output that nobody could store is neither read nor hashed: outputs of one length count as
  // equal.
  if (findJsonExcess(output, OUTPUT_BOUND) !== null) return tooLargeOutput(output);
  const written = writeOutput(output);
  if (written.kind === "none") return { output: null, outputDigest: null, outputBytes: null };
  const { kind, text } = written;
  const bytes = utf8Length(text);
  const bytesMax = call.isRead ? outputBytes : LIMITS.outputBytesMax;
  const digest = (): string => sha256Hex(OUTPUT_TAG, text);
  if (kind === "lost") return { output: null, outputDigest: digest(), outputBytes: bytes };
  if (bytes > bytesMax) {
    return { output: cutToBytes(text, bytesMax), outputDigest: digest(), outputBytes: bytes };
  }
  if ((kind === "exact" && whole) || (isNearText(text) && !call.isRead)) {
    return { output: text, outputDigest: null, outputBytes: bytes };
  }
  // One byte more than there is, because the gate never answers with an incomplete output. A write
  // is never answered with its output, but the gate must see what the output lists as written.
  return { output: text, outputDigest: digest(), outputBytes: bytes + 1 };
}

/** For larger outputs only the size is recorded. */
const OUTPUT_BOUND = { characters: 4 * 1024 * 1024, keys: 100_000, items: 100_000 };

function tooLargeOutput(output: unknown): SentOutput {
  const length = typeof output === "string" ? output.length : OUTPUT_BOUND.characters;
  const outputDigest = sha256Hex("callgate.output.large.v1", `${typeof output} ${length}`);
  return { output: null, outputDigest, outputBytes: length };
}

function errorOf({ status, error }: CallReport): ResultInput["error"] {
  if (error === undefined) {
    return status === "failed" ? { code: null, message: "", retryable: null } : null;
  }
  // A program may pass on whatever it caught: database errors, for example, have numeric codes.
  const { message, code, retryable } = describeThrown(error);
  return { code, message: cutText(message, ERROR_CHARACTERS), retryable };
}

const MEMBERS: Readonly<Record<keyof CallReport, true>> = {
  status: true,
  effect: true,
  output: true,
  error: true,
  durationMs: true,
  cost: true,
};

/** @throws CallgateError `invalid_input` */
export function checkReport(report: CallReport): void {
  const members: Partial<Record<keyof CallReport, unknown>> = report;
  const unknown = memberProblem(members, Object.keys(MEMBERS));
  if (unknown !== undefined) throw invalid(unknown);
  if (!(RESULT_STATUSES as readonly unknown[]).includes(members.status)) {
    throw invalid(`\`status\` must be one of ${RESULT_STATUSES.join(", ")}`);
  }
  const { durationMs, cost, error, effect } = members;
  if (effect !== undefined) checkEffect(effect, members.status);
  if (durationMs !== undefined && !isDuration(durationMs)) {
    throw invalid("`durationMs` must be a number of milliseconds below 2^53");
  }
  if (cost !== undefined) checkCost(cost);
  if (error === undefined) return;
  if (typeof error !== "object" || error === null) {
    throw invalid("`error` must be an object with a `message`");
  }
}

function checkEffect(effect: unknown, status: unknown): void {
  if (!(FAILURE_EFFECTS as readonly unknown[]).includes(effect)) {
    throw invalid(`\`effect\` must be one of ${FAILURE_EFFECTS.join(", ")}`);
  }
  if (status !== "failed") throw invalid("`effect` is only for a call with the status `failed`");
}

function checkCost(value: unknown): void {
  const problem =
    typeof value === "object" && value !== null
      ? (memberProblem(value, ["microUnits", "currency"]) ?? costProblem(value as Money, "cost"))
      : "`cost` must be { microUnits: whole number, currency: text }";
  if (problem !== undefined) throw invalid(problem);
}

function isDuration(value: unknown): boolean {
  return typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

function invalid(problem: string): CallgateError {
  return new CallgateError("invalid_input", `the result cannot be reported: ${problem}`);
}

/** The outcome of an allowed call. */
export type CallReport = {
  readonly status: ResultStatus;
  /**
   * Effect of a failed call: `none` if it certainly took no effect, so that it may run again as a
   * new one; `possible` if it may have. Default: `possible` for a write, `none` for a read.
   */
  readonly effect?: FailureEffect;
  /** Text as it is; anything else as JSON, which is marked incomplete if it cannot be read back. */
  readonly output?: unknown;
  readonly error?: {
    readonly message: string;
    readonly code?: CallError["code"];
    readonly retryable?: CallError["retryable"];
  };
  readonly durationMs?: number;
  readonly cost?: Money;
};

/**
 * A report that this program makes. Nobody has said that a value that a handler returned is a
 * success.
 */
export type JudgedReport = CallReport & {
  readonly basis?: StatusBasis | undefined;
  /** False: the output is only what JSON can represent of what was returned. Default true. */
  readonly whole?: boolean | undefined;
};

/** Converts the executor's finding on a call into a report. */
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
