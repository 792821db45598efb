import { cutText } from "../core/cut-text.ts";
import { sha256Hex } from "../core/hash.ts";
import type { ResultInput } from "../core/inputs.ts";
import { LIMITS } from "../core/limits.ts";
import { callErrorOf } from "./call-error.ts";
import type { CallReport, JudgedReport } from "./call-report.ts";
import { exceedsJson } from "./json-size.ts";
import { cutToBytes, isNearText, textOfValue, utf8Length } from "./output-text.ts";

/** As the core digests outputs: one that was cut compares equal to itself whole. */
const OUTPUT_TAG = "callgate.output.v1";

const ERROR_CHARACTERS = 4_096;

export type ReportedCall = {
  readonly tenantId: string;
  readonly conversationId: string;
  readonly callId: string;
  readonly decisionId: string;
  readonly isRead: boolean;
};

/** @param outputBytes how much of an output of a read the gate keeps. */
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
    ...outputOf(call, report.output, outputBytes),
    error: errorOf(report),
    durationMs: report.durationMs === undefined ? null : Math.max(0, Math.round(report.durationMs)),
    cost: report.cost ?? null,
  };
}

type SentOutput = Pick<ResultInput, "output" | "outputDigest" | "outputBytes">;

/**
 * Of a read, no more is sent than is kept: what is larger runs again. A write cannot run again to be
 * looked at, so more of it is sent, and a refusal refers to it.
 */
function outputOf(call: ReportedCall, output: unknown, outputBytes: number): SentOutput {
  // Nothing is read of what nobody could keep, nor is it hashed: outputs of one length count as equal.
  if (exceedsJson(output, OUTPUT_BOUND) !== null) return tooLargeOutput(output);
  const written = textOfValue(output);
  if (written.kind === "none") return { output: null, outputDigest: null, outputBytes: null };
  const { kind, text } = written;
  const bytes = utf8Length(text);
  const bytesMax = call.isRead ? outputBytes : LIMITS.outputBytesMax;
  const digest = (): string => sha256Hex(OUTPUT_TAG, text);
  if (kind === "lost") return { output: null, outputDigest: digest(), outputBytes: bytes };
  if (bytes > bytesMax) {
    return { output: cutToBytes(text, bytesMax), outputDigest: digest(), outputBytes: bytes };
  }
  if (kind === "exact" || (isNearText(text) && !call.isRead)) {
    return { output: text, outputDigest: null, outputBytes: bytes };
  }
  // One byte more than there is: the gate answers with nothing that is not whole. A write is never
  // answered with its output, and what its output names as written must be known.
  return { output: text, outputDigest: digest(), outputBytes: bytes + 1 };
}

/** Of outputs beyond it only their size is recorded. */
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
  // Whatever was caught may be handed over as it is: a database's errors have numbers as codes.
  const { message, code, retryable } = callErrorOf(error);
  return { code, message: cutText(message, ERROR_CHARACTERS), retryable };
}
