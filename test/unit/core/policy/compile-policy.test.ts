import { describe, expect, test } from "vitest";
import { compilePolicy } from "../../../../services/core/policy/compile-policy.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { capabilities } from "../../../support/core/compile.ts";

const problems = (document: PolicyDocument): readonly string[] => {
  const result = compilePolicy(document, capabilities, { revision: "sha256:x", keyId: "k" });
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
};

const HOUR = 3_600_000;
const ANY: PolicyDocument["authorization"] = {
  tiers: [{ name: "reads", pattern: "get_*", action: "allowlist" }],
};

describe("a conversation that would be forgotten too soon is refused", () => {
  test.each<readonly [string, PolicyDocument]>([
    ["conversation.idle_ms", { deduplication: { window_ms: 25 * HOUR }, authorization: ANY }],
    ["conversation.idle_ms", { tools: { cache_ttl_s: 25 * 3_600 }, tool_schemas: { look: {} } }],
    ["conversation.idle_ms", { tool_schemas: { write: { dedupe_window_s: 25 * 3_600 } } }],
    [
      "conversation.max_age_ms",
      { deduplication: { window_ms: 2 * HOUR }, conversation: { max_age_ms: HOUR } },
    ],
  ])("at %s, where a window is longer: %j", (path, document) => {
    expect(problems(document)).toEqual([
      expect.stringMatching(new RegExp(`^${path}: a conversation is forgotten .* longest window`)),
    ]);
  });

  test.each(["idle_ms", "max_age_ms"])("at `%s`, where a hold is longer", (key) => {
    const tiers = [{ name: "ask", pattern: "*", action: "hitl", expires_ms: 2 * HOUR }] as const;
    expect(problems({ authorization: { tiers }, conversation: { [key]: HOUR } })).toEqual([
      expect.stringMatching(`^conversation.${key}: a hold may wait 7200000 ms`),
    ]);
  });

  test("not where the memory is the turn's, which ends with the conversation", () => {
    expect(problems({ tool_deduplication: { enabled: true } })).toEqual([]);
  });
});
