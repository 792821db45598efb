/** From the chain that a policy writes for an argument to the function that runs it. */

import type { JsonValue } from "../canonical/json-value.ts";
import type { CapabilityProblem, ValueCapabilities } from "../capabilities.ts";
import { type Normalized, type Normalizer, normalized } from "./normalizer.ts";
import { decimal, toInt, toNumber } from "./numbers.ts";
import { convertToString, toLower, toUpper, trim, url } from "./texts.ts";

/** A name alone, or a name with arguments as a policy document holds it. */
export type NormalizerStep =
  | string
  | { readonly name: string; readonly arguments: readonly string[] };

export type CompiledNormalizers = {
  readonly ok: true;
  /** Runs the chain from left to right and stops at the first that cannot do its work. Pure. */
  readonly run: (value: JsonValue) => Normalized;
};

/** Every normalizer of the policy language; those without a function are known but not built yet. */
const NORMALIZERS: ReadonlyMap<string, Normalizer | null> = new Map([
  ["to_int", toInt],
  ["to_number", toNumber],
  ["to_string", convertToString],
  ["to_bool", null],
  ["to_lower", toLower],
  ["to_upper", toUpper],
  ["trim", trim],
  ["collapse_space", null],
  ["nfc", null],
  ["nfkc", null],
  ["e164", null],
  ["email", null],
  ["url", url],
  ["date", null],
  ["datetime", null],
  ["decimal", decimal],
  ["minor_units", null],
  ["sort", null],
  ["unique", null],
  ["json", null],
  ["path", null],
  ["strip_punctuation", null],
  ["omit_if_default", null],
  ["hash", null],
]);

/** Names that a policy may write, in the order of the documentation. */
export const NORMALIZER_NAMES: readonly string[] = [...NORMALIZERS.keys()];

/** Names among them that can be used now. */
export const BUILT_NORMALIZER_NAMES: readonly string[] = NORMALIZER_NAMES.filter(
  (name) => NORMALIZERS.get(name) !== null,
);

/** Compiles a chain, or names the first step that cannot be. */
export function compileNormalizers(
  chain: readonly NormalizerStep[],
  capabilities: ValueCapabilities,
): CompiledNormalizers | CapabilityProblem {
  const steps: Normalizer[] = [];
  for (const written of chain) {
    const step = typeof written === "string" ? { name: written, arguments: [] } : written;
    const normalizer = NORMALIZERS.get(step.name);
    if (normalizer === undefined) {
      const known = BUILT_NORMALIZER_NAMES.join(", ");
      return { ok: false, problem: `unknown normalizer \`${step.name}\`, use one of ${known}` };
    }
    if (normalizer === null) {
      return { ok: false, problem: `normalizer \`${step.name}\` is not built yet` };
    }
    if (step.arguments.length > 0) {
      return { ok: false, problem: `normalizer \`${step.name}\` takes no argument` };
    }
    steps.push(normalizer);
  }
  return { ok: true, run: (value) => runChain(steps, value, capabilities) };
}

function runChain(
  steps: readonly Normalizer[],
  value: JsonValue,
  capabilities: ValueCapabilities,
): Normalized {
  let current = value;
  for (const step of steps) {
    const result = step(current, capabilities);
    if (!result.ok) return result;
    current = result.value;
  }
  return normalized(current);
}
