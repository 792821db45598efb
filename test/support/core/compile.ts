import { createJsonSchemaCompiler } from "../../../services/adapters/json-schema/compile-json-schema.ts";
import { compilePattern } from "../../../services/adapters/patterns/compile-pattern.ts";
import { loadPrograms } from "../../../services/adapters/programs/load-programs.ts";
import { valueCapabilities } from "../../../services/adapters/values/value-capabilities.ts";
import type { Capabilities } from "../../../services/core/capabilities.ts";
import { compilePolicy } from "../../../services/core/policy/compile-policy.ts";
import type { CompiledPolicy } from "../../../services/core/policy/compiled.ts";
import type { PolicyDocument } from "../../../services/core/policy/document.ts";
import { createSealing, type Sealing } from "../../../services/core/seal/sealing.ts";

/** The capabilities with which the shipped program compiles policies. */
export const capabilities: Capabilities = {
  ...valueCapabilities,
  compilePattern,
  compileJsonSchema: createJsonSchemaCompiler(compilePattern),
  programs: loadPrograms,
};

/** A sealing whose secret has its own name as the key id. */
export function sealingOf(keyId: string, ...others: readonly string[]): Sealing {
  const secret = (id: string) => Uint8Array.from({ length: 32 }, (_, at) => id.charCodeAt(0) + at);
  return createSealing(keyId, new Map([keyId, ...others].map((id) => [id, secret(id)] as const)));
}

/** A policy that must compile. `revision` distinguishes two revisions of one policy. */
export function compiled(
  document: PolicyDocument,
  revision = "sha256:test",
  sealing = sealingOf("k1"),
): CompiledPolicy {
  const { keyId } = sealing;
  const result = compilePolicy(document, capabilities, { revision, keyId, sealing });
  if (result.ok) return result.policy;
  throw new Error(result.problems.map(({ path, message }) => `${path}: ${message}`).join("; "));
}
