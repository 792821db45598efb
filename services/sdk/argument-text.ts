import { CallgateError } from "./callgate-error.ts";

/**
 * Arguments as JSON text. Text is passed on as the model wrote it. What JSON would silently change
 * (NaN, maps, functions) is an error: two different calls must not look the same.
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
    return JSON.stringify(value, checked);
  } catch (cause) {
    if (cause instanceof NoJsonForm) throw invalid(tool, cause.message);
    if (cause instanceof RangeError)
      throw invalid(tool, "are nested too deep or too large for JSON");
    throw invalid(tool, cause instanceof Error ? cause.message : "cannot be written as JSON");
  }
}

class NoJsonForm extends Error {}

/** A replacer: sees each value after its own `toJSON`, so dates are text here. */
function checked(this: unknown, key: string, value: unknown): unknown {
  const problem = problemOf(value, Array.isArray(this));
  if (problem === undefined) return value;
  throw new NoJsonForm(`hold ${problem} at \`${key}\`, which JSON cannot carry`);
}

function problemOf(value: unknown, isItem: boolean): string | undefined {
  switch (typeof value) {
    case "number":
      return Number.isFinite(value) ? undefined : String(value);
    case "bigint":
    case "function":
    case "symbol":
      return `a ${typeof value}`;
    case "undefined":
      return isItem ? "undefined" : undefined;
    case "object":
      return value === null || Array.isArray(value) || isPlain(value) ? undefined : nameOf(value);
    default:
      return undefined;
  }
}

/** An object whose meaning is in its own members. */
function isPlain(value: object): boolean {
  return !(value instanceof Map || value instanceof Set || ArrayBuffer.isView(value));
}

function nameOf(value: object): string {
  return `a ${value.constructor.name}`;
}

function invalid(tool: string, what: string): CallgateError {
  return new CallgateError("invalid_input", `the arguments of \`${tool}\` ${what}`);
}
