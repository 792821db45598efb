/** The libraries behind a policy, as the core wants them. */
import { createJsonSchemaCompiler } from "../adapters/json-schema/compile-json-schema.ts";
import { compilePattern } from "../adapters/patterns/compile-pattern.ts";
import { valueCapabilities } from "../adapters/values/value-capabilities.ts";
import type { Capabilities } from "../core/capabilities.ts";

export const capabilities: Capabilities = {
  ...valueCapabilities,
  compilePattern,
  compileJsonSchema: createJsonSchemaCompiler(compilePattern),
};
