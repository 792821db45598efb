/**
 * Compares a condition with the `input_schema` of a tool: a test of a value that no valid call has
 * can never be read, so that its author must have meant something else.
 */
import type { JsonObject, JsonValue } from "../../canonical/json-value.ts";
import type { ValueCapabilities } from "../../capabilities.ts";
import { isObject } from "../argument-path.ts";
import type { CompileProblem } from "../compile-identity.ts";
import type { ArgumentTests, ToolDocument } from "../document.ts";
import { type PathSegment, policyPath } from "../path.ts";
import { TESTS, type TestName } from "./argument-test.ts";
import { alternativesOf, type ConditionDocument } from "./condition.ts";
import { readBound } from "./quantity.ts";

export function checkTypes(
  written: ConditionDocument,
  at: readonly PathSegment[],
  tool: { readonly name: string; readonly entry: ToolDocument },
  capabilities: ValueCapabilities,
  problems: CompileProblem[],
): void {
  for (const { condition, at: within } of alternativesOf(written, at)) {
    for (const [argument, tests] of Object.entries(condition)) {
      if (tests.budget !== undefined) continue;
      const path = [...within, argument];
      const report = (key: readonly PathSegment[], message: string): void => {
        problems.push({ path: policyPath([...path, ...key]), message });
      };
      const schema = checkArgument(argument, tool, (message) => report([], message));
      if (schema !== null) checkTests(tests, schema, argument, tool, capabilities, report);
    }
  }
}

/**
 * The schema of an argument that the policy reads; null: it says nothing of it, or the argument was
 * reported as one that the tool does not have or that is sensitive.
 */
export function checkArgument(
  argument: string,
  tool: { readonly name: string; readonly entry: ToolDocument },
  report: (message: string) => void,
): JsonObject | null {
  const sealed = sensitiveIn(tool.entry.sensitive ?? [], argument);
  if (sealed !== null) {
    report(
      `\`${sealed}\` of \`${tool.name}\` is sensitive: the journal does not have it, so nobody could check the decision; test another argument`,
    );
    return null;
  }
  const schema = schemaAt(tool.entry.input_schema ?? {}, argument);
  if (schema !== "unknown") return schema;
  report(
    `\`${argument}\` is no argument in the schema of \`${tool.name}\`: write one that it has, or add it to the schema`,
  );
  return null;
}

function sensitiveIn(sensitive: readonly string[], argument: string): string | null {
  const plain = argument.replaceAll("[]", "");
  const overlaps = (one: string): boolean =>
    one === plain || plain.startsWith(`${one}.`) || one.startsWith(`${plain}.`);
  return sensitive.find((one) => overlaps(one.replaceAll("[]", ""))) ?? null;
}

/** Keywords under which a value may have other members and types than `properties` and `type` say. */
const OPEN: readonly string[] = ["$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "if", "not"];

/** The schema at a path; null: the schema leaves it open; `unknown`: it allows no such argument. */
function schemaAt(root: JsonObject, path: string): JsonObject | null | "unknown" {
  let schema: JsonObject = root;
  for (const step of path.split(".")) {
    if (isOpen(schema)) return null;
    const properties: JsonValue | undefined = schema["properties"];
    const name = step.replaceAll("[]", "");
    const isMember = isObject(properties) && Object.hasOwn(properties, name);
    if (!isMember) return isClosed(schema) ? "unknown" : null;
    const member = elementIn(properties[name], step.split("[]").length - 1);
    if (member === null) return null;
    schema = member;
  }
  return isOpen(schema) ? null : schema;
}

/** The schema of an element, so many lists deep; what is no list is its own element. */
function elementIn(schema: JsonValue | undefined, depth: number): JsonObject | null {
  if (!isObject(schema)) return null;
  if (depth === 0) return schema;
  if (schema["items"] !== undefined) return elementIn(schema["items"], depth - 1);
  return typesOf(schema)?.includes("array") === false ? schema : null;
}

function isOpen(schema: JsonObject): boolean {
  return OPEN.some((key) => Object.hasOwn(schema, key));
}

function isClosed(schema: JsonObject): boolean {
  return schema["additionalProperties"] === false && schema["patternProperties"] === undefined;
}

/** The types that a schema names; null: it names none. */
function typesOf(schema: JsonObject): readonly JsonValue[] | null {
  const type = schema["type"];
  if (type === undefined) return null;
  return Array.isArray(type) ? (type as readonly JsonValue[]) : [type];
}

type Report = (key: readonly PathSegment[], message: string) => void;

function checkTests(
  tests: ArgumentTests,
  schema: JsonObject,
  argument: string,
  tool: { readonly name: string; readonly entry: ToolDocument },
  capabilities: ValueCapabilities,
  report: Report,
): void {
  const types = typesOf(schema);
  for (const name of TESTS) {
    if (tests[name] === undefined) continue;
    const wanted = typesFor(name, tests, capabilities);
    if (types !== null && wanted !== null && !types.some((type) => wanted.includes(String(type)))) {
      const has = types.map(String).join(" or ");
      report(
        [name],
        `\`${argument}\` of \`${tool.name}\` is ${has}, and \`${name}\` reads ${wanted.join(", ")}: write another test, or correct the schema`,
      );
    }
    checkChoices(name, tests, schema, argument, report);
    checkCurrency(name, tests, argument, tool, capabilities, report);
  }
}

const NUMBERS: readonly string[] = ["number", "integer", "string"];

/** The types of values that a test can read; null: all. */
function typesFor(
  name: TestName,
  tests: ArgumentTests,
  capabilities: ValueCapabilities,
): readonly string[] | null {
  if (name === "present") return null;
  if (name === "count") return ["array"];
  if (SCALAR_TESTS.includes(name)) {
    return [...new Set(boundsOf(name, tests).flatMap(typesOfScalar))];
  }
  if (!BOUND_TESTS.includes(name)) return ["string"];
  const kind = readBound(tests[name] as string | number, capabilities)?.kind;
  if (kind === "money") return [...NUMBERS, "object"];
  return kind === "number" || kind === undefined ? NUMBERS : ["string"];
}

const SCALAR_TESTS: readonly TestName[] = ["equals", "not", "in", "not_in"];
const BOUND_TESTS: readonly TestName[] = ["at_most", "at_least", "above", "below"];

function boundsOf(name: TestName, tests: ArgumentTests): readonly JsonValue[] {
  const bound = tests[name] as JsonValue;
  return Array.isArray(bound) ? (bound as readonly JsonValue[]) : [bound];
}

function typesOfScalar(bound: JsonValue): readonly string[] {
  if (bound === null) return ["null"];
  return typeof bound === "number" ? NUMBERS : [typeof bound];
}

/** A word that is none of the schema's is a slip. */
function checkChoices(
  name: TestName,
  tests: ArgumentTests,
  schema: JsonObject,
  argument: string,
  report: Report,
): void {
  const choices = schema["enum"];
  if (!Array.isArray(choices) || !SCALAR_TESTS.includes(name)) return;
  const all = choices as readonly JsonValue[];
  for (const bound of boundsOf(name, tests)) {
    if (all.some((choice) => String(choice) === String(bound))) continue;
    report(
      [name],
      `\`${String(bound)}\` is none of the values that \`${argument}\` may have: write one of ${all.map(String).join(", ")}`,
    );
  }
}

/** A currency that the currency's argument cannot have. */
function checkCurrency(
  name: TestName,
  tests: ArgumentTests,
  argument: string,
  { entry }: { readonly entry: ToolDocument },
  capabilities: ValueCapabilities,
  report: Report,
): void {
  if (!BOUND_TESTS.includes(name)) return;
  const bound = readBound(tests[name] as string | number, capabilities);
  if (bound?.kind !== "money") return;
  const path = tests.currency ?? `${argument.slice(0, argument.lastIndexOf(".") + 1)}currency`;
  const schema = schemaAt(entry.input_schema ?? {}, path);
  if (tests.currency !== undefined && schema === "unknown") {
    report(["currency"], `\`${path}\` is no argument in the tool's schema: write one that it has`);
  }
  if (schema === null || schema === "unknown") return;
  const written = schema["enum"] ?? (schema["const"] === undefined ? undefined : [schema["const"]]);
  if (!Array.isArray(written)) return;
  const codes = (written as readonly JsonValue[]).map((code) => String(code).trim().toUpperCase());
  if (codes.includes(bound.currency)) return;
  report(
    [name],
    `\`${path}\` is never ${bound.currency}: write the amount in ${codes.join(" or ")}`,
  );
}
