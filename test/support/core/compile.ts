import { createJsonSchemaCompiler } from "../../../services/adapters/json-schema/compile-json-schema.ts";
import { compilePattern } from "../../../services/adapters/patterns/compile-pattern.ts";
import { valueCapabilities } from "../../../services/adapters/values/value-capabilities.ts";
import type { Capabilities } from "../../../services/core/capabilities.ts";
import { compilePolicy } from "../../../services/core/policy/compile-policy.ts";
import type { CompiledPolicy } from "../../../services/core/policy/compiled.ts";
import type { PolicyDocument } from "../../../services/core/policy/document.ts";

/** What the shipped composition compiles policies with. */
export const capabilities: Capabilities = {
  ...valueCapabilities,
  compilePattern,
  compileJsonSchema: createJsonSchemaCompiler(compilePattern),
};

/** A policy that must compile. `revision` tells two revisions of one policy apart. */
export function compiled(document: PolicyDocument, revision = "sha256:test"): CompiledPolicy {
  const result = compilePolicy(document, capabilities, { revision, keyId: "k1" });
  if (result.ok) return result.policy;
  throw new Error(result.problems.map(({ path, message }) => `${path}: ${message}`).join("; "));
}
