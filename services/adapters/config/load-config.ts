/**
 * Loads the configuration of a process: a file, overridden by the environment, checked as a whole.
 * All problems are reported at once, each with the location of its key.
 */
import { dirname, resolve } from "node:path";
import type { z } from "zod";
import { crossProblems } from "./config-checks.ts";
import { type ConfigFile, readConfigFile } from "./config-file.ts";
import { CONFIG_KEYS } from "./config-keys.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { type Config, configSchema } from "./config-schema.ts";
import { readVariables } from "./config-variables.ts";
import { fillNames } from "./derived-names.ts";
import { describeConfigIssue } from "./describe-config-issue.ts";
import { fillTargets, resolveTargetFiles } from "./notify-targets.ts";
import { readSecretText, SECRET_FILE_KEYS } from "./secret-files.ts";
import { fillSecretList, resolveSecretFiles } from "./secret-list.ts";

export type ConfigSource = {
  /** Path of the file; undefined: no file. */
  readonly file: string | undefined;
  readonly variables: ReadonlyMap<string, string>;
  /** Variables that count for keys that neither the file nor the environment sets. */
  readonly presets?: ReadonlyMap<string, string>;
  /** Keys that this process requires, such as `policy.files`. */
  readonly needs: readonly string[];
};

export type ConfigResult =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

type Values = { [name: string]: unknown };

type Draft = {
  readonly values: Values;
  /** The location of each key, by its dotted path. */
  readonly locations: Map<string, string>;
  readonly problems: ConfigProblem[];
  /** True where the file exists and could not be read. */
  readonly isUnread: boolean;
  /** The location of keys that were not written. */
  readonly whole: string;
};

const NO_FILE: ConfigFile = { values: {}, locations: new Map(), problems: [] };

export function loadConfig(source: ConfigSource): ConfigResult {
  const read = source.file === undefined ? NO_FILE : readConfigFile(source.file);
  const draft: Draft = {
    values: structuredClone(read.values) as Values,
    locations: new Map(read.locations),
    problems: [...read.problems],
    isUnread: read.problems.length > 0,
    whole: source.file ?? "the environment",
  };
  if (source.file !== undefined) resolvePaths(draft, dirname(source.file));
  preset(draft, source.presets ?? new Map());
  overlay(draft, source.variables);
  return checked(draft, source.needs);
}

/** Checks a configuration that a program passes. @param whole its name in problems. */
export function configOf(values: object, whole: string): ConfigResult {
  const draft = {
    values: plainCopy(values),
    locations: new Map(),
    problems: [],
    isUnread: false,
    whole,
  };
  return checked(draft, []);
}

/** Copies the values; keys with the value undefined are dropped. */
function plainCopy(values: object): Values {
  return JSON.parse(JSON.stringify(values)) as Values;
}

function checked(draft: Draft, needs: readonly string[]): ConfigResult {
  fillSecrets(draft);
  fillNames(draft.values);
  const result = configSchema.safeParse(draft.values);
  // Where the file could not be read, problems of missing keys would be misleading.
  if (!draft.isUnread) draft.problems.push(...problemsOf(draft, result.error?.issues ?? [], needs));
  if (result.success && draft.problems.length === 0) return { ok: true, config: result.data };
  return { ok: false, problems: draft.problems };
}

function problemsOf(
  draft: Draft,
  issues: readonly z.core.$ZodIssue[],
  needs: readonly string[],
): readonly ConfigProblem[] {
  const read = (name: string) => valueAt(draft.values, name.split("."));
  const crossed = crossProblems(read, needs).map((problem) => ({
    where: locate(draft, problem.key),
    ...problem,
  }));
  const schemaProblems = issues.flatMap((issue) =>
    describeConfigIssue(issue, (path) => locate(draft, path)),
  );
  return [...schemaProblems, ...crossed];
}

/** Resolves paths against the directory of the configuration file. */
function resolvePaths(draft: Draft, directory: string): void {
  resolveSecretFiles(draft.values, directory);
  resolveTargetFiles(draft.values, directory);
  for (const { path, isPath } of CONFIG_KEYS) {
    if (!isPath) continue;
    const value = valueAt(draft.values, path);
    if (typeof value === "string") put(draft.values, path, resolve(directory, value));
    if (Array.isArray(value)) {
      const resolved = value.map((one) =>
        typeof one === "string" ? resolve(directory, one) : one,
      );
      put(draft.values, path, resolved);
    }
  }
}

function preset(draft: Draft, presets: ReadonlyMap<string, string>): void {
  for (const { key, value } of readVariables(presets).values) {
    if (valueAt(draft.values, key.path) === undefined) put(draft.values, key.path, value);
  }
}

function overlay(draft: Draft, variables: ReadonlyMap<string, string>): void {
  const read = readVariables(variables);
  draft.problems.push(...read.problems);
  for (const { key, value } of read.values) {
    put(draft.values, key.path, value);
    draft.locations.set(key.name, key.variable);
    // A secret in the environment replaces that of the file, whether it is set there as a value
    // or as a path.
    const other = SECRET_FILE_KEYS.find((one) => one.key === key || one.of === key);
    const replaced = other?.key === key ? other.of : other?.key;
    if (replaced !== undefined && !variables.has(replaced.variable)) {
      remove(draft.values, replaced.path);
    }
  }
}

function fillSecrets(draft: Draft): void {
  for (const problem of [...fillSecretList(draft.values), ...fillTargets(draft.values)]) {
    draft.problems.push({ where: locate(draft, problem.key), ...problem });
  }
  for (const { key, of } of SECRET_FILE_KEYS) {
    const file = valueAt(draft.values, key.path);
    if (typeof file !== "string") continue;
    const at = { where: locate(draft, key.name), key: key.name };
    if (valueAt(draft.values, of.path) !== undefined) {
      const message = `is set together with \`${of.name}\``;
      draft.problems.push({ ...at, message, remedy: "keep one of the two" });
      continue;
    }
    const read = readSecretText(file);
    if (read.ok) put(draft.values, of.path, read.text);
    else
      draft.problems.push({
        ...at,
        message: read.message,
        remedy: "check the path and its rights",
      });
  }
}

/** The location of a key, or of the nearest map around it. */
function locate({ locations, whole }: Draft, name: string): string {
  for (let path = name; path !== ""; path = path.slice(0, Math.max(0, path.lastIndexOf(".")))) {
    const location = locations.get(path);
    if (location !== undefined) return location;
  }
  return whole;
}

function valueAt(values: Values, path: readonly string[]): unknown {
  let value: unknown = values;
  for (const segment of path) {
    if (!isMap(value)) return undefined;
    value = value[segment];
  }
  return value;
}

/** Does nothing where the path leads through a value that is no map: the schema reports that. */
function put(values: Values, path: readonly string[], value: unknown): void {
  let map = values;
  for (const segment of path.slice(0, -1)) {
    const inner = map[segment] ?? {};
    if (!isMap(inner)) return;
    map[segment] = inner;
    map = inner;
  }
  map[path.at(-1) ?? ""] = value;
}

function remove(values: Values, path: readonly string[]): void {
  const map = valueAt(values, path.slice(0, -1));
  if (isMap(map)) delete map[path.at(-1) ?? ""];
}

function isMap(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
