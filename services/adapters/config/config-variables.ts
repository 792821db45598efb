/** What the variables of the environment say of the configuration. */
import { CONFIG_KEYS, type ConfigKey } from "./config-keys.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { nearest } from "./nearest.ts";

export type VariableValue = { readonly key: ConfigKey; readonly value: unknown };

export type ReadVariables = {
  readonly values: readonly VariableValue[];
  readonly problems: readonly ConfigProblem[];
};

/** Variables of ours that are no keys, and near to some. */
const OTHERS = ["CALLGATE_CONFIG", "CALLGATE_LOG", "CALLGATE_DEBUG"];
const SPELLINGS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

/**
 * A name that is near to one of ours is taken for a slip and is a problem. Others are left alone: an
 * orchestrator may set `CALLGATE_…` for its own ends.
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
    const meant = OTHERS.includes(name) ? null : findNearestName(name, [...keysByVariable.keys()]);
    if (meant === null) continue;
    const remedy = `did you mean \`${meant}\`? else remove it`;
    problems.push({ where: name, key: "", message: "is no variable of ours", remedy });
  }
  return { values, problems };
}

const EDITS_MAX = 2;

function findNearestName(name: string, names: readonly string[]): string | null {
  // What a duration's name ends with is the part that is left out.
  const withUnit = names.find((one) => one === `${name}_MS`);
  if (withUnit !== undefined) return withUnit;
  const alike = names.filter((one) => Math.abs(one.length - name.length) <= EDITS_MAX);
  const meant = nearest(name, alike);
  if (meant === null) return null;
  // Long names let `nearest` go further than a slip of the pen.
  return sharedLength(name, meant) >= meant.length - EDITS_MAX ? meant : null;
}

/** Characters that both begin and end with. */
function sharedLength(a: string, b: string): number {
  const least = Math.min(a.length, b.length);
  let before = 0;
  while (before < least && a[before] === b[before]) before += 1;
  let after = 0;
  while (after < least - before && a[a.length - 1 - after] === b[b.length - 1 - after]) after += 1;
  return before + after;
}

/** Undefined: the text is no such value. */
function parsedText(key: ConfigKey, text: string): unknown {
  switch (key.type) {
    case "text":
      return text;
    case "list":
      return text.split(",").map((item) => item.trim());
    case "boolean":
      return SPELLINGS.get(text.toLowerCase());
    case "number":
      return /^-?\d+$/.test(text) ? Number(text) : undefined;
  }
}

function wrongText({ variable, name, type }: ConfigKey): ConfigProblem {
  const wanted = type === "number" ? "a whole number" : "true or false";
  return { where: variable, key: name, message: `must be ${wanted}`, remedy: `write ${wanted}` };
}
