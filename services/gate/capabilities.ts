/** The libraries that a policy may use, as the core expects them. */
import { createJsonSchemaCompiler } from "../adapters/json-schema/compile-json-schema.ts";
import { compilePattern } from "../adapters/patterns/compile-pattern.ts";
import { loadPrograms } from "../adapters/programs/load-programs.ts";
import { valueCapabilities } from "../adapters/values/value-capabilities.ts";
import type { Capabilities, CustomNormalizer } from "../core/capabilities.ts";

export const capabilities: Capabilities = {
  ...valueCapabilities,
  compilePattern,
  compileJsonSchema: createJsonSchemaCompiler(compilePattern),
  programs: loadPrograms,
};

/** Normalizers of the program, by the names that its policy uses. */
export type CustomNormalizers = Readonly<Record<string, CustomNormalizer>>;

const CUSTOM_NAME = /^x_[A-Za-z0-9_]+$/;

/**
 * The built-in libraries and the program's normalizers. @throws RangeError: a name that no policy
 * may use.
 */
export function capabilitiesWith(normalizers: CustomNormalizers | undefined): Capabilities {
  if (normalizers === undefined) return capabilities;
  const names = Object.keys(normalizers);
  const wrong = names.find((name) => !CUSTOM_NAME.test(name));
  if (wrong !== undefined) {
    throw new RangeError(`the normalizer \`${wrong}\` needs a name such as \`x_order_number\``);
  }
  return { ...capabilities, customNormalizers: new Map(Object.entries(normalizers)) };
}
