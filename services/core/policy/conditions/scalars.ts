/** `equals` and `in`: one of some scalars. Numbers are equal as decimals, also where one is a text. */
import type { JsonValue } from "../../canonical/json-value.ts";
import type { ValueCapabilities } from "../../capabilities.ts";
import { isText } from "./likeness.ts";
import { readDecimal } from "./quantity.ts";
import type { Truth } from "./truth.ts";

export type Scalar = string | number | boolean | null;

export function isOneOf(
  value: JsonValue | undefined,
  bounds: readonly Scalar[],
  capabilities: ValueCapabilities,
): Truth {
  let answer: Truth = "unreadable";
  for (const bound of bounds) {
    const truth = isBound(value, bound, capabilities);
    if (truth === true) return true;
    // An almost equal text is no answer, whatever the other alternatives say.
    if (truth === "alike") return "unreadable";
    if (truth === false) answer = false;
  }
  return answer;
}

function isBound(
  value: JsonValue | undefined,
  bound: Scalar,
  capabilities: ValueCapabilities,
): Truth | "alike" {
  if (bound === null) return value === null ? true : value === undefined ? "unreadable" : false;
  if (typeof bound === "number") {
    const number = readDecimal(value, capabilities);
    return number === null ? "unreadable" : number === readDecimal(bound, capabilities);
  }
  if (typeof bound === "boolean")
    return typeof value === "boolean" ? value === bound : "unreadable";
  if (typeof value !== "string") return "unreadable";
  const truth = isText(value, [bound]);
  return truth === "unreadable" ? "alike" : truth;
}
