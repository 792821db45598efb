/** The libraries behind a policy, as the core wants them. */
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

/** The libraries, and what the program brings along. @throws RangeError: a name that no policy may use. */
export function capabilitiesWith(normalizers: CustomNormalizers | undefined): Capabilities {
  if (normalizers === undefined) return capabilities;
  const names = Object.keys(normalizers);
  const wrong = names.find((name) => !CUSTOM_NAME.test(name));
  if (wrong !== undefined) {
    throw new RangeError(`the normalizer \`${wrong}\` needs a name such as \`x_order_number\``);
  }
  return { ...capabilities, customNormalizers: new Map(Object.entries(normalizers)) };
}
