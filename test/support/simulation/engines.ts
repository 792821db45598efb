import { createJsonSchemaCompiler } from "../../../services/adapters/json-schema/compile-json-schema.ts";
import { compilePattern } from "../../../services/adapters/patterns/compile-pattern.ts";
import { loadPrograms } from "../../../services/adapters/programs/load-programs.ts";
import { valueCapabilities } from "../../../services/adapters/values/value-capabilities.ts";
import { compilePolicy } from "../../../services/core/policy/compile-policy.ts";
import type { PolicyDocument, PolicyTier } from "../../../services/core/policy/document.ts";
import { createCoreEngine } from "../../../services/runtime/core-engine.ts";
import type { Engine } from "../../../services/runtime/engine.ts";

export const HOLD_MS = 20_000;
export const TIME_LIMIT_MS = 15_000;

/** Small limits, so that a short history reaches all of them. */
const DOCUMENT: PolicyDocument = {
  preset: "balanced",
  conversation: { max_age_ms: 3_600_000, idle_ms: 1_200_000 },
  deduplication: { window_ms: 120_000, cache_ttl_ms: 30_000 },
  idempotency: { ttl_ms: 120_000 },
  tools: { dedupe_window_s: 120, cache_ttl_s: 30 },
  authorization: {
    tiers: [
      { name: "ask", pattern: "delete_*", action: "hitl", expires_ms: HOLD_MS },
      { name: "never", pattern: "forbidden", action: "deny" },
    ],
  },
  tool_schemas: {
    read_order: { read_only: true, time_limit_ms: TIME_LIMIT_MS, start_within_ms: 5_000 },
    write_order: { time_limit_ms: TIME_LIMIT_MS, start_within_ms: 5_000 },
    charge: {
      time_limit_ms: TIME_LIMIT_MS,
      start_within_ms: 5_000,
      effects: [{ resource: "order/{order}/payment", kind: "charge" }],
    },
    delete_order: { time_limit_ms: TIME_LIMIT_MS, start_within_ms: 5_000 },
    forbidden: {},
    unwritable: {},
  },
};

const STRICTER_TIERS: readonly PolicyTier[] = [
  { name: "stopped", pattern: "charge", action: "deny" },
  ...(DOCUMENT.authorization?.tiers ?? []),
];

/** The real core under two policies that refuse different calls. */
export function createEngines(): readonly [Engine, Engine] {
  return [
    createEngine(DOCUMENT, "sha256:first"),
    createEngine({ ...DOCUMENT, authorization: { tiers: STRICTER_TIERS } }, "sha256:second"),
  ];
}

export function createEngine(document: PolicyDocument, revision: string): Engine {
  const capabilities = {
    ...valueCapabilities,
    compileJsonSchema: createJsonSchemaCompiler(compilePattern),
    compilePattern,
    programs: loadPrograms,
  };
  const compiled = compilePolicy(document, capabilities, { revision, keyId: "k1" });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return createCoreEngine(compiled.policy);
}
