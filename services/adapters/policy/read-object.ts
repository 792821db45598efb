import { type PathSegment, policyPath } from "../../core/policy/path.ts";
import { OBJECT_NAME, type PolicyProblem } from "../../core/policy/problem.ts";
import type { ReadPolicy } from "./read-yaml.ts";

const DEPTH_MAX = 100;

/** Reads a policy from an object. Problems have paths, but no lines. */
export function readObject(policy: object, into: ReadPolicy): void {
  const value = readValue(policy, [], into.problems);
  if (!isObject(value)) {
    // Without a problem it would count as the empty policy, which allows every tool.
    if (into.problems.length === 0) {
      addProblem(into.problems, [], "a policy is a map of blocks", "pass an object");
    }
    return;
  }
  for (const [name, block] of Object.entries(value)) {
    if (name !== "policy_engine") addBlock(name, block, into);
    else if (isObject(block)) {
      for (const [inner, content] of Object.entries(block)) addBlock(inner, content, into);
    } else addProblem(into.problems, [name], "is a map of blocks", "make it an object");
  }
}

function addBlock(name: string, value: unknown, into: ReadPolicy): void {
  into.blocks.push({ name, value, file: OBJECT_NAME, line: 0, column: 0 });
}

/** Copies JSON values; `undefined` counts as not written. */
function readValue(
  value: unknown,
  path: readonly PathSegment[],
  problems: PolicyProblem[],
): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (path.length > DEPTH_MAX) {
    addProblem(problems, path, "is too deep or refers to itself", "reduce its depth");
    return null;
  }
  if (Array.isArray(value)) {
    return value.map((item, index) => readValue(item, [...path, index], problems));
  }
  if (isObject(value) && isPlain(value)) return readMembers(value, path, problems);
  addProblem(problems, path, "is not a JSON value", "use objects, lists, texts, numbers, booleans");
  return null;
}

function readMembers(
  value: Readonly<Record<string, unknown>>,
  path: readonly PathSegment[],
  problems: PolicyProblem[],
): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    if (name === "__proto__") {
      addProblem(problems, path, "`__proto__` is not allowed as a key", "rename it");
    } else entries.push([name, readValue(member, [...path, name], problems)]);
  }
  return Object.fromEntries(entries);
}

function addProblem(
  problems: PolicyProblem[],
  path: readonly PathSegment[],
  message: string,
  remedy: string,
): void {
  problems.push({ file: OBJECT_NAME, line: 0, column: 0, path: policyPath(path), message, remedy });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** False for objects of classes (dates, maps), which would lose their meaning as plain objects. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
