/** The arguments of a tool by which near duplicates are found. */
import { canonicalText } from "../canonical/canonical-text.ts";
import type { JsonValue } from "../canonical/json-value.ts";
import { actionDigest } from "../hash.ts";
import type { Similarity } from "./compiled.ts";
import type { ToolDocument } from "./document.ts";

/** The key begins with the index of the field among the declared ones. */
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
