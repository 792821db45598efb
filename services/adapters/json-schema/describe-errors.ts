import type { ErrorObject } from "ajv/dist/2020.js";
import type { SchemaProblem } from "../../core/capabilities.ts";
import { jsonMember } from "../../core/json-path.ts";

/** Most problems reported for one value: a model needs no more, and memory stays bounded. */
const PROBLEMS_MAX = 32;
/** Most allowed values quoted in one message. */
const QUOTED_VALUES_MAX = 12;

/** Turns ajv's errors into sentences with JSON paths. Values are never quoted, only their types. */
export function describeErrors(errors: readonly ErrorObject[]): readonly SchemaProblem[] {
  const informativeErrors = errors.filter(saysSomething);
  const shown = informativeErrors.slice(0, PROBLEMS_MAX).map(describeError);
  const more = informativeErrors.length - shown.length;
  if (more > 0) shown.push({ path: "$", message: `has ${more} more problems` });
  return shown;
}

/** An error of `if` only announces that its branch failed; the branch has errors of its own. */
function saysSomething(error: ErrorObject): boolean {
  return error.keyword !== "if";
}

function describeError(error: ErrorObject): SchemaProblem {
  const path = jsonPath(error.instancePath);
  const params = error.params as Readonly<Record<string, unknown>>;
  switch (error.keyword) {
    case "required":
      return { path: jsonMember(path, String(params["missingProperty"])), message: "is missing" };
    case "additionalProperties":
      return unknownProperty(path, String(params["additionalProperty"]));
    case "unevaluatedProperties":
      return unknownProperty(path, String(params["unevaluatedProperty"]));
    case "type":
      return { path, message: `must be ${typeNames(params["type"])}, not ${typeOf(error.data)}` };
    case "enum":
      return { path, message: `must be one of ${quoteValues(params["allowedValues"])}` };
    case "const":
      return { path, message: `must be ${JSON.stringify(params["allowedValue"])}` };
    default:
      return { path, message: error.message ?? `breaks \`${error.keyword}\`` };
  }
}

function unknownProperty(path: string, name: string): SchemaProblem {
  return { path: jsonMember(path, name), message: "is not an argument of this tool" };
}

function typeNames(type: unknown): string {
  return Array.isArray(type) ? type.join(" or ") : String(type);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}

function quoteValues(values: unknown): string {
  if (!Array.isArray(values)) return "the allowed values";
  const shown = values.slice(0, QUOTED_VALUES_MAX).map((value) => JSON.stringify(value));
  const more = values.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}

/** Converts `/items/0/sku` to `$.items[0].sku`. */
export function jsonPath(pointer: string): string {
  let path = "$";
  for (const segment of pointer.split("/").slice(1)) {
    path = jsonMember(path, segment.replaceAll("~1", "/").replaceAll("~0", "~"));
  }
  return path;
}
