/** Encodes and decodes results as Avro, on their topic and in the journal. */
import type { CallError, ResultInput } from "../core/inputs.ts";
import type { DecodedInput } from "../runtime/ports.ts";
import { BASES, FAILURE_EFFECT_LIST, member, STATUSES } from "./closed-lists.ts";
import { looksLikeJson } from "./framing.ts";
import { conversationProblem } from "./input-rules.ts";
import type { RecordTypes } from "./record-types.ts";
import { wellFormed, wellFormedOrNull } from "./well-formed.ts";

export type RawResult = Omit<ResultInput, "type" | "status" | "effect" | "basis" | "executorId"> & {
  readonly executorId: string | null;
  readonly status: string;
  readonly effect: string | null;
  readonly basis: string | null;
};

/**
 * Bytes of a result for the results topic; the duration in whole milliseconds.
 *
 * @throws FatalError where a field does not fit the schema.
 */
export function encodeResult(types: RecordTypes, result: ResultInput): Uint8Array {
  return types.result.encode({
    ...resultToRaw(result),
    output: wellFormedOrNull(result.output),
    error: wellFormedError(result.error),
    durationMs: result.durationMs === null ? null : Math.round(result.durationMs),
  });
}

function wellFormedError(error: CallError | null): CallError | null {
  return error === null ? null : { ...error, message: wellFormed(error.message) };
}

/** Decodes a result from Avro or JSON. @throws UndecodableError */
export function decodeResult({ result }: RecordTypes, value: Uint8Array): DecodedInput {
  const raw = looksLikeJson(value) ? result.decodeJson(value) : result.decode(value);
  const input = resultFromRaw(raw as RawResult);
  const message = conversationProblem(input) ?? numbersProblem(input);
  return message === undefined ? { ok: true, input } : { ok: false, message };
}

function numbersProblem(input: ResultInput): string | undefined {
  if ((input.outputBytes ?? 0) < 0) return "`outputBytes` must not be negative";
  if ((input.durationMs ?? 0) < 0) return "`durationMs` must not be negative";
  // A negative cost would give back what other calls have spent.
  if ((input.cost?.microUnits ?? 0) < 0) return "`cost.microUnits` must not be negative";
  return undefined;
}

export function resultToRaw(result: ResultInput): RawResult {
  return {
    tenantId: result.tenantId,
    conversationId: result.conversationId,
    callId: result.callId,
    decisionId: result.decisionId,
    status: result.status,
    effect: result.effect ?? null,
    basis: result.basis ?? null,
    output: result.output,
    outputDigest: result.outputDigest,
    outputBytes: result.outputBytes,
    error: result.error,
    durationMs: result.durationMs,
    cost: result.cost,
    executorId: result.executorId ?? null,
  };
}

/** @throws UndecodableError */
export function resultFromRaw(raw: RawResult): ResultInput {
  const { executorId, effect, basis } = raw;
  return {
    type: "result",
    tenantId: raw.tenantId,
    conversationId: raw.conversationId,
    callId: raw.callId,
    decisionId: raw.decisionId,
    status: member(STATUSES, raw.status),
    ...(effect === null ? {} : { effect: member(FAILURE_EFFECT_LIST, effect) }),
    ...(basis === null ? {} : { basis: member(BASES, basis) }),
    output: raw.output,
    outputDigest: raw.outputDigest,
    outputBytes: raw.outputBytes,
    error: raw.error,
    durationMs: raw.durationMs,
    cost: raw.cost,
    ...(executorId === null ? {} : { executorId }),
  };
}
