import { describe, expect, test } from "vitest";
import type { PolicyDocument, PolicyTier } from "../../../../services/core/policy/document.ts";
import { merger, ranked } from "../../../../services/core/policy/merge-variants.ts";
import type { Mode } from "../../../../services/core/reasons/reasons.ts";
import { compiled } from "../../../support/core/compile.ts";
import { startStory } from "../../../support/decider-spec.ts";

const ONE: PolicyTier = { name: "one", pattern: "-", action: "hitl", expires_ms: 60_000 };
const WHY: PolicyTier = { name: "why", pattern: "-", action: "hitl", require_reason: true };
const TWO: PolicyTier = { name: "two", pattern: "-", action: "hitl", approvals: 2 };
const FREE: PolicyTier = {
  ...{ name: "free", pattern: "-", ceiling: 9 },
  action: "per_conversation_grant",
};
const ASKED: PolicyTier = { ...FREE, name: "asked", granted_by: "verdict" };

const POLICY: PolicyDocument = {
  authorization: { tiers: [ONE, WHY, TWO, FREE, ASKED] },
  tool_schemas: {
    bash: {
      commands: {
        unclear: "one",
        rules: [
          { run: ["deploy"], tier: "two" },
          { run: ["explain"], tier: "why" },
          { run: ["quiet"], tier: "one", checks: { approval_required: "shadow" } },
          { run: ["take"], tier: "free" },
          { run: ["order"], tier: "asked" },
        ],
      },
    },
    execute_tool: {
      variants: {
        argument: "tool_name",
        rules: [
          { like: "get_*", read_only: true },
          { like: "drop_*", tier: "one" },
        ],
        otherwise: { tier: "two" },
      },
    },
  },
};

describe("a line with parts of several tiers", () => {
  const held = (command: string) => startStory(POLICY).held("bash", { command });

  test.each(["restart x && deploy prod", "deploy prod && touch a", "deploy prod | tee x"])(
    "%s: requires the most approvals of its parts",
    (command) => {
      expect(held(command).approvals).toBe(2);
    },
  );

  test("requires a reason where one part does, and holds no longer than the shortest", () => {
    const both = held("touch a; explain b");
    expect(both).toMatchObject({ requireReason: true, approvals: 1 });
    expect(both.expiresAtMs - both.times.atMs).toBe(60_000);
    const three = held("explain b; deploy c");
    expect(three).toMatchObject({ requireReason: true, approvals: 2 });
  });

  test("has another rule than each of its parts, in any order of them", () => {
    const digests = ["touch a", "explain b", "touch a; explain b"].map((c) => held(c).ruleDigest);
    expect(new Set(digests).size).toBe(3);
    expect(held("explain b; touch a").ruleDigest).toBe(digests[2]);
  });

  test("is not covered by a grant for the tier of one part", () => {
    const story = startStory(POLICY);
    story.allowed("bash", { command: "ls" });
    story.said({ kind: "grant", tier: "one", calls: 9 });
    story.allowed("bash", { command: "touch a" });
    story.held("bash", { command: "touch a; explain b" });
  });

  test("is enforced where one part is", () => {
    startStory(POLICY).allowed("bash", { command: "quiet a" });
    held("quiet a && touch b");
    held("touch b && quiet a");
  });

  test("is refused where people grant the calls of one part, although the policy grants those of the other", () => {
    startStory(POLICY).allowed("bash", { command: "take a" });
    for (const command of ["order b", "take a; order b", "order b; take a"]) {
      expect(startStory(POLICY).reason("bash", { command })).toBe("grant_exceeded");
    }
  });
});

describe("a tool name within arguments", () => {
  test("is held as the tool of that name is", () => {
    const held = startStory(POLICY).held("execute_tool", { tool_name: "mcp__db__drop_all" });
    expect(held.approvals).toBe(1);
    startStory(POLICY).allowed("execute_tool", { tool_name: "get_a" });
    // Only its whole name makes a tool a read.
    expect(startStory(POLICY).held("execute_tool", { tool_name: "x__get_a" }).approvals).toBe(2);
  });

  test.each([[["drop_db"]], [{ x: 1 }], [7]])("may be any name where it is no text: %j", (name) => {
    const held = startStory(POLICY).held("execute_tool", { tool_name: name });
    expect(held.approvals).toBe(2);
  });
});

describe("two variants", () => {
  const tools = compiled(POLICY).tool("bash").variants;
  const tool = tools.find(({ tier }) => tier.name === "free") ?? compiled(POLICY).tool("bash");
  const both = merger();

  test("are as strict as each of them, in any order", () => {
    const classes = [
      { isRead: true, volatile: false, repeatable: false },
      { isRead: true, volatile: true, repeatable: false },
      { isRead: false, volatile: false, repeatable: true },
      { isRead: false, volatile: false, repeatable: false },
    ].map((members) => ({ ...tool, ...members }));
    for (const [lax, laxTool] of classes.entries()) {
      for (const strictTool of classes.slice(lax + 1)) {
        const [one, other] = [ranked(laxTool), ranked(strictTool)];
        for (const result of [both([one, other]), both([other, one])]) {
          const { isRead, volatile, repeatable } = strictTool;
          expect(result).toMatchObject({ isRead, volatile, repeatable });
        }
      }
    }
  });

  test("are under the stricter tier, whichever of the two writes", () => {
    const asks = tools.find(({ tier }) => tier.action === "hitl") ?? tool;
    const read = ranked({ ...tool, isRead: true, volatile: false, tier: asks.tier });
    const write = ranked({ ...tool, isRead: false, repeatable: false });
    for (const result of [both([read, write]), both([write, read])]) {
      expect([result.tier.action, result.isRead]).toEqual(["hitl", false]);
    }
  });

  test("are the first where the second requires nothing more", () => {
    const same = { ...tool, modes: { ...tool.modes } };
    expect(both([ranked(tool), ranked(same)])).toBe(tool);
    const often = { ...tool, repeatable: true };
    expect(both([ranked(often), ranked({ ...often, modes: { ...often.modes } })])).toBe(often);
    const run = tools.find(({ isRead, repeatable }) => !isRead && repeatable) ?? tool;
    expect(both([ranked(run), ranked({ ...run, modes: { ...run.modes } })])).toBe(run);
    const tier = { ...tool.tier };
    expect(both([ranked(tool), ranked({ ...tool, tier })]).tier).toBe(tool.tier);
  });

  test("apply each check as the stricter one does", () => {
    const modes: readonly Mode[] = ["off", "shadow", "warn", "enforce"];
    const inMode = (mode: Mode) => ({ ...tool, modes: { ...tool.modes, near_duplicate: mode } });
    for (const [at, one] of modes.entries()) {
      for (const [other, two] of modes.entries()) {
        const merged = both([ranked(inMode(one)), ranked(inMode(two))]);
        expect(merged.modes.near_duplicate).toBe(modes[Math.max(at, other)]);
      }
    }
  });

  test("have the rule of the first where each requires equally many approvals", () => {
    const under = (name: string) => {
      const tier = tools.map((one) => one.tier).find((one) => one.name === name);
      return ranked({ ...tool, tier: tier ?? tool.tier });
    };
    expect(both([under("one"), under("why")]).tier.rule).toBe("authorization.tiers[0]");
    expect(both([under("why"), under("one")]).tier.rule).toBe("authorization.tiers[1]");
  });
});

describe("a line whose parts declare different things", () => {
  const SHOP: PolicyDocument = {
    authorization: {
      tiers: [
        { name: "few", pattern: "-", action: "per_conversation_grant", ceiling: 3 },
        { name: "big", pattern: "-", action: "per_conversation_grant", ceiling: 2 },
        {
          name: "rare",
          pattern: "-",
          action: "allowlist",
          rate_limit: { count: 1, windowMs: 3_600_000 },
        },
        {
          name: "often",
          pattern: "-",
          action: "allowlist",
          rate_limit: { count: 9, windowMs: 60_000 },
        },
        {
          name: "slow",
          pattern: "-",
          action: "allowlist",
          rate_limit: { count: 2, windowMs: 3_600_000 },
        },
      ],
    },
    tool_schemas: {
      bash: {
        commands: {
          rules: [
            { run: ["mkdir|touch|rm|make"] },
            {
              ...{ run: ["pay"], read_only: false },
              effects: [{ resource: "payment", kind: "charge", exclusive: true }],
            },
            {
              ...{ run: ["refund"], read_only: false },
              effects: [{ resource: "payment/back", kind: "charge", exclusive: true }],
            },
            {
              ...{ run: ["restock"], read_only: false },
              effects: [{ resource: "stock", kind: "update" }],
            },
            {
              ...{ run: ["note"], read_only: false },
              effects: [{ resource: "notes", kind: "update" }],
            },
            { run: ["peek"], read_only: true, reads: ["stock"] },
            { run: ["show"], read_only: true, reads: ["notes"] },
            { run: ["glance"], read_only: true, reads: ["stock"], cache_ttl_s: 20 },
            { run: ["add"], read_only: false, batchable: true },
            { run: ["tag"], tier: "few", read_only: false },
            { run: ["deploy"], tier: "big", read_only: false },
            { run: ["seldom"], tier: "rare", read_only: false },
            { run: ["often"], tier: "often", read_only: false },
            { run: ["slow"], tier: "slow", read_only: false },
          ],
        },
      },
    },
  };
  const shop = () => startStory(SHOP);
  const run = (command: string) => ["bash", { command }] as const;

  test.each(["mkdir a; pay 1", "touch a && pay 1", "pay 1; mkdir a", "note 1; pay 1", "ls; pay 1"])(
    "%s: has the effects of each, and is undeclared where one part declares none",
    (command) => {
      const after = shop();
      after.allowed(...run("pay 2"));
      expect(after.reason(...run(command))).toBe("side_effect_conflict");
      const before = shop();
      before.allowed(...run(command));
      expect(before.reason(...run("pay 2"))).toBe("side_effect_conflict");
    },
  );

  test("may have several exclusive effects at once", () => {
    const story = shop();
    story.allowed(...run("pay 1; refund 2"));
    expect(story.reason(...run("refund 3"))).toBe("side_effect_conflict");
  });

  test.each([
    "note 1; restock 1",
    "restock 1; note 1",
    "note 1; rm stock",
    "note 1; make stock",
    "touch x; note 1",
  ])("%s: changes what each part may change", (command) => {
    const story = shop();
    story.done(...run("peek 1"), "12");
    expect(story.reason(...run("peek 1"))).toBe("duplicate_call");
    story.done(...run(command));
    story.allowed(...run("peek 1"));
  });

  test.each(["show 1; peek 1", "peek 1; show 1", "show 1; glance 1"])(
    "%s: reads what each part reads",
    (command) => {
      const story = shop();
      story.done(...run(command), "12");
      expect(story.reason(...run(command))).toBe("duplicate_call");
      story.done(...run("restock 1"));
      story.allowed(...run(command));
    },
  );

  test("is answered from memory for no longer than each of them", () => {
    const story = shop();
    story.done(...run("show 1; glance 1"), "12");
    story.after(20_001);
    story.allowed(...run("show 1; glance 1"));
  });

  test.each(["add 1; rm x", "rm x; add 1"])("%s: may not be repeated within a step", (line) => {
    const story = shop();
    story.allowed(...run(line), { step: "1" });
    expect(story.reason(...run(line), { step: "1" })).toBe("duplicate_in_flight");
  });

  test.each(["tag 1; deploy 1", "deploy 1; tag 1"])("%s: uses neither grant", (line) => {
    const { refusal } = shop().refused(...run(line));
    expect(refusal.reason).toBe("grant_exceeded");
    expect(refusal.message).toContain("which are counted apart: make them one by one.");
    const story = shop();
    story.allowed(...run("tag 0"));
    story.said({ kind: "grant", tier: "big", calls: 9 });
    expect(story.reason(...run(line))).toBe("grant_exceeded");
    const event = story.said({ kind: "grant", tool: "bash", calls: 1 });
    expect(event).toMatchObject({ type: "ignored", why: "unknown_grant" });
  });

  test.each([
    "often 1; seldom 1",
    "seldom 1; often 1",
    "seldom 1; tag 1",
    "slow 1; often 1; seldom 1",
  ])("%s: must be within the rate of each part, and counts in each", (line) => {
    const before = shop();
    before.allowed(...run("seldom 0"));
    expect(before.reason(...run(line))).toBe("rate_limited");
    const after = shop();
    after.allowed(...run(line));
    expect(after.reason(...run("seldom 2"))).toBe("rate_limited");
  });
});
