/**
 * Tests of texts. A text that differs from the policy's only by case, white space at its ends or
 * Unicode form may be the same to whatever reads it: it neither passes nor fails.
 */
import type { JsonValue } from "../../canonical/json-value.ts";
import type { Truth } from "./truth.ts";

type Compare = (text: string, bound: string) => boolean;

function compared(value: JsonValue | undefined, bounds: readonly string[], fits: Compare): Truth {
  if (typeof value !== "string") return "unreadable";
  if (bounds.some((bound) => fits(value, bound))) return true;
  const loose = loosely(value);
  return bounds.some((bound) => fits(loose, loosely(bound))) ? "unreadable" : false;
}

export function loosely(text: string): string {
  return text
    .normalize("NFKC")
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim()
    .toLowerCase();
}

export function startsWith(value: JsonValue | undefined, bounds: readonly string[]): Truth {
  return compared(value, bounds, (text, bound) => text.startsWith(bound));
}

export function endsWith(value: JsonValue | undefined, bounds: readonly string[]): Truth {
  return compared(value, bounds, (text, bound) => text.endsWith(bound));
}

export function isText(value: JsonValue | undefined, bounds: readonly string[]): Truth {
  return compared(value, bounds, (text, bound) => text === bound);
}
