import type { Ajv2020 } from "ajv/dist/2020.js";
import { canonicalText } from "../../core/canonical/canonical-text.ts";
import type { JsonValue } from "../../core/canonical/json-value.ts";

/**
 * Replaces ajv's `uniqueItems`, which compares every pair of objects: seconds for a list that fits
 * into the arguments of one call. Items are equal where their canonical texts are.
 */
export function addUniqueItems(ajv: Ajv2020): void {
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    error: { message: "must not have equal items" },
    compile: (unique: boolean) => (items: readonly JsonValue[]) =>
      !unique || new Set(items.map(canonicalText)).size === items.length,
  });
}
