/**
 * Resources that only a result names: `invoice/{result.id}`. Until the result is in, the
 * placeholder remains as it was written; all other braces are doubled, so that no argument can
 * introduce a placeholder.
 */
import type { JsonValue } from "../canonical/json-value.ts";
import { LIMITS } from "../limits.ts";
import { getArgument, isObject } from "./argument-path.ts";
import { namesThing, segmentOf } from "./segment.ts";

const PREFIX = "result.";
const OPEN_PART = /\{\{|\}\}|\{result\.([^{}]+)\}/g;

/** Whether the placeholder names a part of the result. */
export function isOfResult(placeholder: string): boolean {
  return placeholder.startsWith(PREFIX);
}

/** False where one of its steps has no name. */
export function isResultPath(placeholder: string): boolean {
  return placeholder
    .slice(PREFIX.length)
    .split(".")
    .every((step) => step !== "");
}

/** Escapes a text so that it has no placeholder. */
export function closed(text: string): string {
  return /[{}]/.test(text) ? text.replaceAll("{", "{{").replaceAll("}", "}}") : text;
}

/** The resource; null where the output has no such part, or one that cannot be a name. */
export function nameFromResult(pending: string, output: JsonValue): string | null {
  if (!isObject(output)) return null;
  let whole = true;
  const resource = pending.replace(OPEN_PART, (match: string, path: string | undefined) => {
    if (path === undefined) return match.charAt(0);
    const name = nameOf(getArgument(output, path));
    if (name === null) whole = false;
    return name ?? "";
  });
  return whole ? resource : null;
}

function nameOf(value: JsonValue | undefined): string | null {
  if (!namesThing(value)) return null;
  const name = segmentOf(value);
  return name.length > LIMITS.resultNameLength ? null : name;
}
