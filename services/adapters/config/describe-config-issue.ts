import type { z } from "zod";
import { CONFIG_KEYS, namesAt } from "./config-keys.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { nearest } from "./nearest.ts";

type Issue = z.core.$ZodIssue;

const KINDS: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "text",
  boolean: "true or false",
  array: "a list",
  object: "a map of keys",
};

/** What the schema found, with its place and a mend. Values are not repeated: they may be secrets. */
export function describeConfigIssue(
  issue: Issue,
  placeOf: (name: string) => string,
): readonly ConfigProblem[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((unknown) => {
      const key = [...path, unknown].join(".");
      return { where: placeOf(key), key, message: "is not a key", mend: mendOf(unknown, path) };
    });
  }
  const key = path.join(".");
  return [{ where: placeOf(key), key, ...textOf(issue, key) }];
}

function mendOf(unknown: string, path: readonly string[]): string {
  const known = namesAt(path);
  const meant = nearest(unknown, known);
  return meant === null ? `the keys here are ${known.join(", ")}` : `did you mean \`${meant}\`?`;
}

function textOf(issue: Issue, key: string): Pick<ConfigProblem, "message" | "mend"> {
  const [message = "", mend] = issue.message.split("\n");
  if (mend !== undefined) return { message, mend };
  switch (issue.code) {
    case "invalid_type":
      return wrongType(issue, key);
    case "invalid_value": {
      const words = issue.values.map((word) => `\`${String(word)}\``).join(", ");
      return { message: `must be one of ${words}`, mend: "write one of them" };
    }
    case "too_small":
      if (Number(issue.minimum) <= 1 && issue.origin !== "int" && issue.origin !== "number") {
        return { message: "is empty", mend: "give it a value, or remove the key" };
      }
      return outOfBounds(issue.origin, `at least ${String(issue.minimum)}`);
    case "too_big":
      return outOfBounds(issue.origin, `at most ${String(issue.maximum)}`);
    default:
      return { message, mend: "see docs/configuration.md" };
  }
}

function wrongType(
  issue: z.core.$ZodIssueInvalidType,
  key: string,
): Pick<ConfigProblem, "message" | "mend"> {
  const wanted = KINDS[issue.expected] ?? issue.expected;
  if (!issue.message.endsWith("received undefined")) {
    return { message: `must be ${wanted}`, mend: `write ${wanted}` };
  }
  const variable = CONFIG_KEYS.find(({ name }) => name === key)?.variable;
  const mend = variable === undefined ? "add it" : `add it, or set ${variable}`;
  return { message: "is missing", mend };
}

function outOfBounds(origin: string, bound: string): Pick<ConfigProblem, "message" | "mend"> {
  if (origin === "number" || origin === "int") {
    return { message: `must be ${bound}`, mend: `write a number of ${bound}` };
  }
  return { message: `must have ${bound} characters`, mend: `write ${bound} characters` };
}
