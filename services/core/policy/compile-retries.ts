/** Retries and near duplicates of one tool. */
import { canonicalText } from "../canonical/canonical-text.ts";
import type { JsonValue } from "../canonical/json-value.ts";
import { actionDigest } from "../hash.ts";
import type { Retries, Similarity } from "./compiled.ts";
import type { PolicyDocument, ToolDocument } from "./document.ts";

const ATTEMPTS = 3;
const RETRYABLE_STATUS: readonly number[] = [408, 429, 500, 502, 503, 504];

/** The tool's own block, else the one for all tools; key by key the narrower one counts. */
export function compileRetries(entry: ToolDocument, document: PolicyDocument): Retries | null {
  const common = document.tools?.retries;
  if (entry.retries === undefined && common === undefined) return null;
  const { max_attempts, retryable_status, backoff_ms } = { ...common, ...entry.retries };
  const [min, max] = backoff_ms ?? [];
  return {
    maxAttempts: max_attempts ?? ATTEMPTS,
    retryableStatus: new Set((retryable_status ?? RETRYABLE_STATUS).map(String)),
    backoffMs: min === undefined || max === undefined ? null : { min, max },
  };
}

/** It begins with the place of the field among those that are declared. */
export function sketchKey(at: number, tool: string, equal: readonly JsonValue[]): string {
  return `${at}:${actionDigest(tool, canonicalText(equal))}`;
}

export function compileSimilarity(
  entry: ToolDocument,
  tool: string,
  rule: string,
): readonly Similarity[] {
  return (entry.similarity ?? []).map(({ field, threshold, with: same }, at) => ({
    field,
    threshold,
    with: same ?? [],
    key: sketchKey(at, tool, []),
    rule: `${rule}.similarity[${at}]`,
  }));
}
