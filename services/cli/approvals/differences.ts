/** How two calls of one tool differ, argument by argument. */
import type { JsonObject, JsonValue } from "../../core/canonical/json-value.ts";
import { isObject } from "../../core/policy/argument-path.ts";
import { type PathSegment, policyPath } from "../../core/policy/path.ts";

/** `before` and `now` are JSON text; null if the argument is absent. */
export type Difference = {
  readonly path: string;
  readonly before: string | null;
  readonly now: string | null;
};

export function differences(before: JsonValue, now: JsonValue): readonly Difference[] {
  const diffs: Difference[] = [];
  compare(before, now, [], diffs);
  return diffs;
}

function compare(
  before: JsonValue | undefined,
  now: JsonValue | undefined,
  path: readonly PathSegment[],
  diffs: Difference[],
): void {
  const [was, is] = [textOf(before), textOf(now)];
  if (was === is) return;
  if (before === undefined || now === undefined || !isObject(before) || !isObject(now)) {
    diffs.push({ path: policyPath(path), before: was, now: is });
    return;
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(now)])) {
    compare(memberOf(before, key), memberOf(now, key), [...path, key], diffs);
  }
}

/** Own members only: every object inherits a `constructor`. */
function memberOf(value: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function textOf(value: JsonValue | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
