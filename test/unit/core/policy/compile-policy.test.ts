import { describe, expect, test } from "vitest";
import { compilePolicy } from "../../../../services/core/policy/compile-policy.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { capabilities, compiled } from "../../../support/core/compile.ts";

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

  test("but not where windows and holds are exactly as long", () => {
    const tiers = [{ name: "ask", pattern: "*", action: "hitl", expires_ms: HOUR }] as const;
    const deduplication = { window_ms: HOUR };
    for (const conversation of [{ idle_ms: HOUR }, { max_age_ms: HOUR }]) {
      expect(problems({ authorization: { tiers }, deduplication, conversation })).toEqual([]);
    }
  });

  test("at `idle_ms` where both times are equal", () => {
    const conversation = { idle_ms: HOUR, max_age_ms: HOUR };
    expect(problems({ deduplication: { window_ms: 2 * HOUR }, conversation })).toEqual([
      expect.stringMatching(/^conversation.idle_ms:/),
    ]);
  });

  test("but not where windows last for a turn, which ends with the conversation", () => {
    expect(problems({ tool_deduplication: { enabled: true } })).toEqual([]);
  });
});

test("a conversation is remembered for seven days, and for a day without a call", () => {
  const { conversation } = compiled({});
  expect(conversation).toEqual({ maxAgeMs: 604_800_000, idleMs: 86_400_000 });
});

test("ten thousand undeclared tools are remembered, then they are compiled again", () => {
  const { tool } = compiled({});
  const first = tool("tool-0");
  for (let n = 1; n < 10_000; n += 1) tool(`tool-${n}`);
  expect(tool("tool-0")).toBe(first);
  tool("one more");
  expect(tool("tool-0")).not.toBe(first);
});
