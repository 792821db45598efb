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

/**
 * Describes an issue of the schema, with location and remedy. Values are never quoted: they may be
 * secret.
 */
export function describeConfigIssue(
  issue: Issue,
  locate: (name: string) => string,
): readonly ConfigProblem[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((unknown) => {
      const key = [...path, unknown].join(".");
      return {
        where: locate(key),
        key,
        message: "is not a key",
        remedy: describeRemedy(unknown, path),
      };
    });
  }
  const key = path.join(".");
  return [{ where: locate(key), key, ...describeText(issue, key) }];
}

function describeRemedy(unknown: string, path: readonly string[]): string {
  const keys = namesAt(path);
  const meant = nearest(unknown, keys);
  return meant === null ? `the keys here are ${keys.join(", ")}` : `did you mean \`${meant}\`?`;
}

function describeText(issue: Issue, key: string): Pick<ConfigProblem, "message" | "remedy"> {
  const [message = "", remedy] = issue.message.split("\n");
  if (remedy !== undefined) return { message, remedy };
  switch (issue.code) {
    case "invalid_type":
      return wrongType(issue, key);
    case "invalid_value": {
      const words = issue.values.map((word) => `\`${String(word)}\``).join(", ");
      return { message: `must be one of ${words}`, remedy: "write one of them" };
    }
    case "too_small":
      if (Number(issue.minimum) <= 1 && issue.origin !== "int" && issue.origin !== "number") {
        return { message: "is empty", remedy: "set a value, or remove the key" };
      }
      return outOfBounds(issue.origin, `at least ${String(issue.minimum)}`);
    case "too_big":
      return outOfBounds(issue.origin, `at most ${String(issue.maximum)}`);
    default:
      return { message, remedy: "see docs/configuration.md" };
  }
}

function wrongType(
  issue: z.core.$ZodIssueInvalidType,
  key: string,
): Pick<ConfigProblem, "message" | "remedy"> {
  const wanted = KINDS[issue.expected] ?? issue.expected;
  if (!issue.message.endsWith("received undefined")) {
    return { message: `must be ${wanted}`, remedy: `write ${wanted}` };
  }
  const variable = CONFIG_KEYS.find(({ name }) => name === key)?.variable;
  const remedy = variable === undefined ? "add it" : `add it, or set ${variable}`;
  return { message: "is missing", remedy };
}

function outOfBounds(origin: string, bound: string): Pick<ConfigProblem, "message" | "remedy"> {
  if (origin === "number" || origin === "int") {
    return { message: `must be ${bound}`, remedy: `write a number of ${bound}` };
  }
  return { message: `must have ${bound} characters`, remedy: `write ${bound} characters` };
}
