/** The arguments of a tool by which near duplicates are found. */
import { canonicalText } from "../canonical/canonical-text.ts";
import type { JsonValue } from "../canonical/json-value.ts";
import { actionDigest } from "../hash.ts";
import type { Similarity } from "./compiled.ts";
import type { ToolDocument } from "./document.ts";

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
