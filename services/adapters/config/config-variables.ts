/** Reads configuration keys from environment variables. */
import { CONFIG_KEYS, type ConfigKey } from "./config-keys.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { nearest } from "./nearest.ts";

export type VariableValue = { readonly key: ConfigKey; readonly value: unknown };

export type ReadVariables = {
  readonly values: readonly VariableValue[];
  readonly problems: readonly ConfigProblem[];
};

/** Our variables that set no key, but have names similar to keys. */
const OTHER_VARIABLES = ["CALLGATE_CONFIG", "CALLGATE_LOG", "CALLGATE_DEBUG"];
const SPELLINGS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

/**
 * A name that is similar to one of ours is a problem, since it is probably misspelled. Other names
 * are ignored: an orchestrator may set `CALLGATE_…` variables of its own.
 */
export function readVariables(variables: ReadonlyMap<string, string>): ReadVariables {
  const values: VariableValue[] = [];
  const problems: ConfigProblem[] = [];
  const keysByVariable = new Map(CONFIG_KEYS.map((key) => [key.variable, key] as const));
  for (const [name, text] of variables) {
    const key = keysByVariable.get(name);
    if (key !== undefined) {
      const value = parsedText(key, text);
      if (value === undefined) problems.push(wrongText(key));
      else values.push({ key, value });
      continue;
    }
    const meant = OTHER_VARIABLES.includes(name)
      ? null
      : findNearestName(name, [...keysByVariable.keys()]);
    if (meant === null) continue;
    const remedy = `did you mean \`${meant}\`? Otherwise remove it`;
    problems.push({ where: name, key: "", message: "is not a Callgate variable", remedy });
  }
  return { values, problems };
}

const EDITS_MAX = 2;

function findNearestName(name: string, names: readonly string[]): string | null {
  // People leave out the unit at the end of a duration's name.
  const withUnit = names.find((one) => one === `${name}_MS`);
  if (withUnit !== undefined) return withUnit;
  const alike = names.filter((one) => Math.abs(one.length - name.length) <= EDITS_MAX);
  const meant = nearest(name, alike);
  if (meant === null) return null;
  // For long names `nearest` allows more edits than a misspelling has.
  return sharedLength(name, meant) >= meant.length - EDITS_MAX ? meant : null;
}

/** Number of characters in the common prefix and the common suffix. */
function sharedLength(a: string, b: string): number {
  const least = Math.min(a.length, b.length);
  let before = 0;
  while (before < least && a[before] === b[before]) before += 1;
  let after = 0;
  while (after < least - before && a[a.length - 1 - after] === b[b.length - 1 - after]) after += 1;
  return before + after;
}

/** Undefined: the text is not a value of the key's type. */
function parsedText(key: ConfigKey, text: string): unknown {
  switch (key.type) {
    case "text":
      return text;
    case "list":
      return text.split(",").map((item) => item.trim());
    case "maps":
      return listOf(text);
    case "boolean":
      return SPELLINGS.get(text.toLowerCase());
    case "number":
      return /^-?\d+$/.test(text) ? Number(text) : undefined;
  }
}

/** Undefined: no list in JSON. */
function listOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const WANTED: Partial<Record<ConfigKey["type"], string>> = {
  number: "a whole number",
  maps: "a list of maps in JSON",
};

function wrongText({ variable, name, type }: ConfigKey): ConfigProblem {
  const wanted = WANTED[type] ?? "true or false";
  return { where: variable, key: name, message: `must be ${wanted}`, remedy: `write ${wanted}` };
}
