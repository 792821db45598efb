// Facts of a result: its digest, and its failure.
import { canonicalText } from "../../../services/core/canonical/canonical-text.ts";
import { parseCanonical } from "../../../services/core/canonical/parse-canonical.ts";
import { maskEchoes } from "../../../services/core/decide/mask-echoes.ts";
import { failureForm } from "../../../services/core/failure-forms.ts";
import { sha256Hex } from "../../../services/core/hash.ts";
import type { ResultInput } from "../../../services/core/inputs.ts";
import type { CompiledTool } from "../../../services/core/policy/compiled.ts";
import {
  looksFailedByDefault,
  looksTransient,
} from "../../../services/core/policy/failure-text.ts";
import type { Call, Failure } from "./history.ts";

/** Digest of the output without the members that are declared volatile. */
export function digestOf(output: string, tool: CompiledTool): string {
  const parsed = tool.volatileOutput.length === 0 ? null : parseCanonical(output);
  if (parsed?.ok !== true) return sha256Hex("output", output);
  const copy = structuredClone(parsed.value);
  for (const path of tool.volatileOutput) drop(copy, path);
  return sha256Hex("output", canonicalText(copy));
}

/** By which a repeat of the call is compared: times in random outputs are durations. */
export function maskedOf(
  input: ResultInput,
  { tool, input: { arguments: said } }: Call,
  status: Call["status"],
): string | null {
  const mask = (text: string): string => text.replace(/\b\d+ ms\b/g, "");
  if (status === "failed") {
    const text = errorText(input);
    return `error ${mask(typeof said === "string" ? maskEchoes(text, said) : text)}`;
  }
  const { output } = input;
  if (output === null) return null;
  const other = tool.isRead && typeof said === "string" ? maskEchoes(output, said) : output;
  if (other !== output || output.includes(" ms")) return mask(other);
  return digestOf(output, tool);
}

function drop(value: unknown, [key, ...rest]: readonly string[]): void {
  if (typeof value !== "object" || value === null || key === undefined) return;
  const members = value as Record<string, unknown>;
  if (rest.length === 0) delete members[key];
  else drop(members[key], rest);
}

export function isTransient(input: ResultInput): boolean {
  if (input.error === null) return looksTransient(null, input.output ?? "");
  if (input.error.retryable !== null) return input.error.retryable;
  return looksTransient(input.error.code, input.error.message);
}

/** Without an error the output describes the failure. */
export function failureOf(input: ResultInput | null, atMs: number): Failure {
  const { code, retryable } = input?.error ?? { code: null, retryable: null };
  const texts = [input?.error?.message, input?.output].filter((text) => text != null);
  return { atMs, code, retryable, texts };
}

export function errorText(input: ResultInput): string {
  const { error, output } = input;
  return error === null ? `text ${output}` : JSON.stringify([error.code, error.message]);
}

/**
 * A reported status is final; where there is only a text, the text decides whether the call failed.
 */
export function endOf(
  { status: said, output, basis = "reported" }: ResultInput,
  tool: CompiledTool,
): Call["status"] {
  const status = said === "started" ? "in_flight" : said;
  if (status !== "succeeded" || output === null || basis === "reported") return status;
  const failed = tool.matchesErrorPattern(output) || (basis === "text" && readsAsFailed(output));
  return failed ? "failed" : status;
}

function readsAsFailed(output: string): boolean {
  return looksFailedByDefault(output) || failureForm(output) !== null;
}

/** Whether the report says what the effect was, not only that the call failed. */
export function isDefinite({ status, effect }: ResultInput): boolean {
  return (
    ["succeeded", "not_executed"].includes(status) || (status === "failed" && effect === "none")
  );
}
