import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import type { CapabilityProblem, ValueCapabilities } from "../capabilities.ts";

/**
 * The result of a normalizer. A message says what was wanted and never contains the value itself.
 */
export type Normalized =
  | { readonly ok: true; readonly value: JsonValue }
  /** The argument counts as missing. */
  | { readonly ok: true; readonly omit: true }
  | { readonly ok: false; readonly message: string };

/**
 * Pure and total. It returns a value's one form or a failure; it never guesses. `args` are all
 * arguments of the call, for the few normalizers that look at another one.
 */
export type Normalizer = (
  value: JsonValue,
  capabilities: ValueCapabilities,
  args?: JsonObject,
) => Normalized;

/** What a normalizer gets when it is made, beside the arguments in the policy. */
export type NormalizerContext = {
  readonly capabilities: ValueCapabilities;
  /** The default that the tool's schema gives the argument; undefined: none. */
  readonly schemaDefault: JsonValue | undefined;
};

/** Makes a normalizer from its arguments in the policy, or reports what is wrong with them. */
export type MakeNormalizer = (
  parameters: readonly string[],
  context: NormalizerContext,
) => Normalizer | CapabilityProblem;

export function normalized(value: JsonValue): Normalized {
  return { ok: true, value };
}

export function cannot(message: string): Normalized {
  return { ok: false, message };
}

/** The name of a value's type in a message. */
export function kindOf(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  return `a ${typeof value}`;
}

/** A normalizer of texts: it refuses everything else, in the normalizer's name. */
export function ofText(
  name: string,
  map: (text: string, capabilities: ValueCapabilities) => Normalized,
): Normalizer {
  return (value, capabilities) =>
    typeof value === "string"
      ? map(value, capabilities)
      : cannot(`\`${name}\` needs text, found ${kindOf(value)}`);
}

/** As `ofText`; null means that the text is not what is `wanted`. */
export function textOr(
  name: string,
  wanted: string,
  map: (text: string, capabilities: ValueCapabilities) => string | null,
): Normalizer {
  return ofText(name, (text, capabilities) => {
    const form = map(text, capabilities);
    return form === null ? cannot(`\`${name}\` needs ${wanted}`) : normalized(form);
  });
}
