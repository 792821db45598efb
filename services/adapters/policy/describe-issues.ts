import type { z } from "zod";
import type { PathSegment } from "../../core/policy/path.ts";
import { type PolicyProblem, type Positions, problemAt } from "../../core/policy/problem.ts";
import { nearest } from "../config/nearest.ts";
import type { RawDocument } from "./fold-blocks.ts";
import { keysAt, listKeyPaths, variantsAt } from "./vocabulary-keys.ts";

type Issue = z.core.$ZodIssue;
type Text = { readonly message: string; readonly remedy: string };

const REFERENCE = "see docs/policy-reference.md for the forms that it takes";

/** Turns the issues of the schema into problems with locations, sentences and remedies. */
export function describeIssues(
  issues: readonly Issue[],
  document: RawDocument,
  positions: Positions,
): readonly PolicyProblem[] {
  return issues.flatMap(innermost).flatMap((issue) => {
    const path = issue.path as readonly PathSegment[];
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) =>
        problemAt(positions, [...path, key], unknownKey(key, path, valueAt(document, path))),
      );
    }
    const text = describe(issue, valueAt(document, path));
    return [problemAt(positions, path, text, "value")];
  });
}

/**
 * If exactly one alternative of a union fails inside the value, its issues say more than the
 * union's.
 */
function innermost(issue: Issue): readonly Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const deep = issue.errors.filter(
    (alternative) => alternative.length > 0 && alternative.every(isInside),
  );
  const [only, more] = deep;
  if (only === undefined || more !== undefined) return [issue];
  return only.map((one) => ({ ...one, path: [...issue.path, ...one.path] })).flatMap(innermost);
}

function isInside({ code, path }: Issue): boolean {
  return path.length > 0 || code === "unrecognized_keys";
}

/** Keys that do not belong into `variants`, with what to write instead. */
const MOVED: Readonly<Record<string, string>> = {
  set: "shells, git, SQL and HTTP have a key of their own: write `commands: shell` (git, sql, http)",
  classes: "write rules of `commands`, and `unclear:` with the tier of what no rule names",
  session: "it is a key of `commands`",
};

function unknownKey(key: string, path: readonly PathSegment[], map: unknown): Text {
  const moved = path.at(-1) === "variants" ? MOVED[key] : undefined;
  if (moved !== undefined) return { message: `\`${key}\` is not a key here`, remedy: moved };
  const variant = unknownInVariant(key, path, map);
  if (variant !== null) return variant;
  const keys = path.length === 0 ? [...keysAt(path), ...TOP_LEVEL_KEYS] : keysAt(path);
  const message = `\`${key}\` is not a key here`;
  const meant = nearest(key, keys);
  if (meant !== null) return { message, remedy: `did you mean \`${meant}\`?` };
  const paths = listKeyPaths(key);
  if (paths.length > 0) return { message, remedy: `it is a key of ${paths.join(" and ")}` };
  return { message, remedy: `the keys here are ${keys.join(", ")}` };
}

/** Keys at top level that are no blocks. */
const TOP_LEVEL_KEYS = ["policy_engine", "retries"];

/** Describes a key that belongs to another kind of the same map, such as another kind of tier. */
function unknownInVariant(key: string, path: readonly PathSegment[], map: unknown): Text | null {
  const variants = variantsAt(path);
  const written = variants.find((variant) => valueAt(map, [variant.key]) === variant.word);
  if (written === undefined) return null;
  const message = `\`${key}\` is not a key beside \`${written.key}: ${written.word}\``;
  const owners = variants.filter(({ keys }) => keys.includes(key));
  if (owners.length > 0) {
    const words = owners.map((owner) => `\`${owner.key}: ${owner.word}\``);
    return { message, remedy: `it belongs to ${words.join(" or ")}` };
  }
  const meant = nearest(key, written.keys);
  const keys = written.keys.join(", ");
  return {
    message,
    remedy: meant === null ? `the keys are ${keys}` : `did you mean \`${meant}\`?`,
  };
}

function describe(issue: Issue, value: unknown): Text {
  if (value === null) return { message: "is empty", remedy: "set a value, or remove the key" };
  if (issue.message.includes("\n")) return ownText(issue.message);
  switch (issue.code) {
    case "invalid_type":
      return wrongType(issue.expected, value);
    case "invalid_value":
      return wrongChoice(issue.values.map(String), value);
    case "invalid_union":
      return wrongAlternative(issue, value);
    case "too_small":
    case "too_big":
      return outOfBounds(issue);
    default:
      return ownText(issue.message);
  }
}

function wrongType(expected: string, value: unknown): Text {
  if (value === undefined) return { message: "is missing", remedy: "add it" };
  const wanted = TYPE_NAMES[expected] ?? expected;
  return { message: `must be ${wanted}, not ${typeName(value)}`, remedy: `write ${wanted}` };
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "text",
  boolean: "true or false",
  array: "a list",
  tuple: "a list of two",
  object: "a map of keys",
  record: "a map of names",
};

function typeName(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number") return Number.isInteger(value) ? "a whole number" : "a fraction";
  if (typeof value === "string") return "text";
  return typeof value === "boolean" ? "true or false" : "a map";
}

function wrongChoice(choices: readonly string[], value: unknown): Text {
  if (value === undefined) return { message: "is missing", remedy: `write ${orList(choices)}` };
  const shown = typeof value === "object" ? typeName(value) : `\`${String(value)}\``;
  const meant = nearest(String(value), choices);
  return {
    message: `must be ${orList(choices)}, not ${shown}`,
    remedy: meant === null ? `write ${orList(choices)}` : `did you mean \`${meant}\`?`,
  };
}

function orList(choices: readonly string[]): string {
  return choices.map((choice) => `\`${choice}\``).join(" or ");
}

function wrongAlternative(issue: z.core.$ZodIssueInvalidUnion, value: unknown): Text {
  const { options } = issue as { readonly options?: unknown };
  if (Array.isArray(options)) return wrongChoice(options.map(String), value);
  return ownText(issue.message);
}

function outOfBounds(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): Text {
  const least = issue.code === "too_small";
  const bound = String(least ? issue.minimum : issue.maximum);
  const side = least ? "at least" : "at most";
  if (issue.origin === "number" || issue.origin === "int") {
    return { message: `must be ${side} ${bound}`, remedy: `write a number of ${side} ${bound}` };
  }
  if (least) return { message: "is empty", remedy: "set a value, or remove the key" };
  return { message: `is longer than ${bound}`, remedy: `shorten it to ${side} ${bound}` };
}

/** Error texts of the vocabulary have their remedy after a line feed. */
function ownText(text: string): Text {
  const [message = "", remedy = REFERENCE] = text.split("\n");
  return { message, remedy };
}

function valueAt(document: unknown, path: readonly PathSegment[]): unknown {
  let value: unknown = document;
  for (const segment of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, segment)) {
      return undefined;
    }
    value = (value as Readonly<Record<PathSegment, unknown>>)[segment];
  }
  return value;
}
