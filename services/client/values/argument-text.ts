import { DEFAULT_CANONICAL_LIMITS, GREATEST_MAX_BYTES } from "../../core/canonical/limits.ts";
import { jsonMember } from "../../core/json-path.ts";
import { CallgateError } from "../api/callgate-error.ts";
import { findJsonExcess } from "./json-size.ts";
import { kindLostInJson } from "./lost-in-json.ts";

/**
 * Arguments as JSON text. Text is passed on as the model wrote it. What JSON would silently change
 * or empty (NaN, maps, promises, functions) is an error, because two different calls must not look
 * the same.
 *
 * @throws CallgateError `invalid_input`
 */
export function argumentText(tool: string, value: object | string | undefined): string {
  if (typeof value === "string") return value;
  if (value === undefined) return "{}";
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(tool, "must be an object, or JSON text");
  }
  try {
    const excess = findJsonExcess(value, ARGUMENTS_BOUND);
    if (excess !== null) return excess === "keys" ? TOO_MANY_KEYS : TOO_LARGE;
    return JSON.stringify(value, checked);
  } catch (cause) {
    if (cause instanceof NoJsonForm)
      throw invalid(tool, sentence(cause.problem, findProblemPath(value)));
    if (cause instanceof RangeError)
      throw invalid(tool, "are nested too deep or too large for JSON");
    throw invalid(tool, cause instanceof Error ? cause.message : "cannot be written as JSON");
  }
}

/**
 * The gate refuses more as `too_large` under every policy, so the client sends only what the gate
 * needs to say why.
 */
const ARGUMENTS_BOUND = {
  characters: GREATEST_MAX_BYTES,
  keys: DEFAULT_CANONICAL_LIMITS.maxKeys,
  items: Number.POSITIVE_INFINITY,
};
const TOO_LARGE = " ".repeat(GREATEST_MAX_BYTES + 1);
const TOO_MANY_KEYS = JSON.stringify({
  ...Array.from({ length: DEFAULT_CANONICAL_LIMITS.maxKeys + 1 }, () => 0),
});

class NoJsonForm extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.what);
    this.problem = problem;
  }
}

/** A replacer: it sees each value after its own `toJSON`, so dates are text here. */
function checked(this: unknown, _key: string, value: unknown): unknown {
  const problem = problemOf(value, Array.isArray(this));
  if (problem !== undefined) throw new NoJsonForm(problem);
  return value;
}

/**
 * Finds the value at which `checked` stopped. `checked` does not track the path itself, because
 * every call would pay for that.
 */
function findProblemPath(value: object): readonly string[] {
  /**
   * The containers of the current value, outermost first, and the key of each in the one before.
   */
  const holders: unknown[] = [];
  const keys: string[] = [];
  try {
    JSON.stringify(value, function placed(this: unknown, key: string, member: unknown): unknown {
      while (holders.length > 0 && holders.at(-1) !== this) {
        holders.pop();
        keys.pop();
      }
      holders.push(member);
      keys.push(key);
      return checked.call(this, key, member);
    });
  } catch {
    // The replacer throws at the same value as before.
  }
  return keys.slice(1);
}

function sentence({ what, remedy }: Problem, path: readonly string[]): string {
  const where =
    path.length === 0 ? `are ${what}` : `contain ${what} at \`${path.reduce(jsonMember, "$")}\``;
  return `${where}, which JSON cannot carry: ${remedy}`;
}

type Problem = { readonly what: string; readonly remedy: string };

function problemOf(value: unknown, isItem: boolean): Problem | undefined {
  switch (typeof value) {
    case "number":
      if (Number.isFinite(value)) return undefined;
      return { what: String(value), remedy: "pass a number, or null" };
    case "bigint":
      return { what: "a bigint", remedy: "pass its digits as text" };
    case "function":
    case "symbol":
      return { what: `a ${typeof value}`, remedy: "leave it out" };
    case "undefined":
      return isItem ? { what: "undefined", remedy: "pass null, or leave it out" } : undefined;
    case "object":
      return value === null ? undefined : problemOfObject(value);
    default:
      return undefined;
  }
}

function problemOfObject(value: object): Problem | undefined {
  const kind = ArrayBuffer.isView(value) ? value.constructor.name : kindLostInJson(value);
  if (kind === undefined) return undefined;
  const article = /^[AEIO]/i.test(kind) ? "an" : "a";
  return { what: `${article} ${kind}`, remedy: describeRemedy(value, kind) };
}

function describeRemedy(value: object, kind: string): string {
  if (kind === "Promise") return "await it first";
  if (value instanceof Error) return "pass its message";
  if (value instanceof Map) return "pass an object, as `Object.fromEntries` makes it";
  if (value instanceof Set) return "pass an array, as `Array.from` makes it";
  if (value instanceof RegExp) return "pass its text, which is its `source`";
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) {
    return "pass text, such as its bytes in base64";
  }
  return "pass what matters of it as plain data, or define `toJSON` on it";
}

function invalid(tool: string, what: string): CallgateError {
  return new CallgateError("invalid_input", `the arguments of \`${tool}\` ${what}`);
}
