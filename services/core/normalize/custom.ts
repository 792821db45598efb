/**
 * Normalizers of the embedding program. Their names begin with `x_`, so that none hides a built-in
 * one.
 */
import type { JsonValue } from "../canonical/json-value.ts";
import type { CapabilityProblem, CustomNormalizer } from "../capabilities.ts";
import { cannot, type Normalizer, type NormalizerContext, normalized } from "./normalizer.ts";

export function isCustomName(name: string): boolean {
  return name.startsWith("x_");
}

export function customNormalizer(
  name: string,
  parameters: readonly string[],
  { capabilities }: NormalizerContext,
): Normalizer | CapabilityProblem {
  const custom = capabilities.customNormalizers?.get(name);
  if (custom === undefined) {
    const problem = `\`${name}\` is not registered: pass it in \`normalizers\` when you open the policy`;
    return { ok: false, problem };
  }
  return (value) => {
    const form = attempt(custom, value, parameters);
    return form === undefined ? cannot(`\`${name}\` cannot take the value`) : normalized(form);
  };
}

function attempt(
  custom: CustomNormalizer,
  value: JsonValue,
  parameters: readonly string[],
): JsonValue | undefined {
  try {
    const form = custom(value, parameters);
    return isJson(form) ? form : undefined;
  } catch {
    return undefined;
  }
}

/** The deepest nesting of a normalizer's result: the same as for arguments. */
const DEPTH_MAX = 32;

function isJson(value: unknown, depth = 0): value is JsonValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || depth >= DEPTH_MAX) return false;
  if (Array.isArray(value)) return value.every((item) => isJson(item, depth + 1));
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  return Object.values(value).every((item) => isJson(item, depth + 1));
}
