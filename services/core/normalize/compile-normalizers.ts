/** Compiles the chain that a policy writes for an argument into a function. */

import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import type { CapabilityProblem } from "../capabilities.ts";
import { date, datetime } from "./calendar.ts";
import { json, omitIfDefault, sort, toBool, unique } from "./collections.ts";
import { customNormalizer, isCustomName } from "./custom.ts";
import { minorUnits } from "./money.ts";
import {
  type MakeNormalizer,
  type Normalized,
  type Normalizer,
  type NormalizerContext,
  normalized,
} from "./normalizer.ts";
import { decimal, toInt, toNumber } from "./numbers.ts";
import {
  collapseSpace,
  convertToString,
  e164,
  email,
  hash,
  iban,
  nfc,
  nfkc,
  path,
  removeSpace,
  stripPunctuation,
  toLower,
  toUpper,
  trim,
  url,
} from "./texts.ts";

/** A name alone, or a name with arguments as a policy document has it. */
export type NormalizerStep =
  | string
  | { readonly name: string; readonly arguments: readonly string[] };

export type CompiledNormalizers = {
  readonly ok: true;
  /** Runs the chain from left to right and stops at the first normalizer that fails. Pure. */
  readonly run: (value: JsonValue, args?: JsonObject) => Normalized;
};

type Entry = { readonly most: number; readonly make: MakeNormalizer };

function plain(normalizer: Normalizer): Entry {
  return { most: 0, make: () => normalizer };
}

const NORMALIZERS: ReadonlyMap<string, Entry> = new Map([
  ["to_int", plain(toInt)],
  ["to_number", plain(toNumber)],
  ["to_string", plain(convertToString)],
  ["to_bool", plain(toBool)],
  ["to_lower", plain(toLower)],
  ["to_upper", plain(toUpper)],
  ["trim", plain(trim)],
  ["collapse_space", plain(collapseSpace)],
  ["remove_space", plain(removeSpace)],
  ["nfc", plain(nfc)],
  ["nfkc", plain(nfkc)],
  ["e164", { most: 2, make: e164 }],
  ["iban", plain(iban)],
  ["email", plain(email)],
  ["url", plain(url)],
  ["date", plain(date)],
  ["datetime", plain(datetime)],
  ["decimal", plain(decimal)],
  ["minor_units", { most: 1, make: minorUnits }],
  ["sort", plain(sort)],
  ["unique", plain(unique)],
  ["json", plain(json)],
  ["path", plain(path)],
  ["strip_punctuation", plain(stripPunctuation)],
  ["omit_if_default", { most: 1, make: omitIfDefault }],
  ["hash", plain(hash)],
]);

/** Names that a policy may write, in the order of the documentation. */
export const NORMALIZER_NAMES: readonly string[] = [...NORMALIZERS.keys()];

/** The most arguments that a normalizer accepts in parentheses; custom ones accept any number. */
export function normalizerArgumentsMax(name: string): number {
  return NORMALIZERS.get(name)?.most ?? Infinity;
}

/** Compiles a chain, or reports the first step that is invalid. */
export function compileNormalizers(
  chain: readonly NormalizerStep[],
  context: NormalizerContext,
): CompiledNormalizers | CapabilityProblem {
  const steps: Normalizer[] = [];
  for (const written of chain) {
    const { name, arguments: parameters } =
      typeof written === "string" ? { name: written, arguments: [] } : written;
    const made = isCustomName(name)
      ? customNormalizer(name, parameters, context)
      : builtIn(name, parameters, context);
    if (typeof made !== "function") return made;
    steps.push(made);
  }
  return { ok: true, run: (value, args) => runChain(steps, value, context, args) };
}

function builtIn(
  name: string,
  parameters: readonly string[],
  context: NormalizerContext,
): Normalizer | CapabilityProblem {
  const entry = NORMALIZERS.get(name);
  if (entry === undefined) {
    const names = NORMALIZER_NAMES.join(", ");
    return { ok: false, problem: `unknown normalizer \`${name}\`, use one of ${names}` };
  }
  const { most, make } = entry;
  if (parameters.length > most) {
    const takes = ["no argument", "at most one argument"][most] ?? `at most ${most} arguments`;
    return { ok: false, problem: `normalizer \`${name}\` takes ${takes}` };
  }
  return make(parameters, context);
}

function runChain(
  steps: readonly Normalizer[],
  value: JsonValue,
  { capabilities }: NormalizerContext,
  args: JsonObject | undefined,
): Normalized {
  let current = value;
  for (const step of steps) {
    const result = step(current, capabilities, args);
    if (!result.ok || "omit" in result) return result;
    current = result.value;
  }
  return normalized(current);
}
