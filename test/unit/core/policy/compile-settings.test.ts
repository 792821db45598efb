import { describe, expect, test } from "vitest";
import type { Retries } from "../../../../services/core/checks/retry.ts";
import { sketchKey } from "../../../../services/core/policy/compile-similarity.ts";
import type { CompiledTool } from "../../../../services/core/policy/compiled.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { compiled } from "../../../support/core/compile.ts";

const retriesOf = ({ settings }: CompiledTool) => settings["duplicate"] as Retries | null;

const SPEND = { amount: "5.07", currency: "EUR" };

describe("budgets", () => {
  test("are in milliseconds and micro-units, exactly", () => {
    const { budgets } = compiled({
      budgets: {
        max_seconds: 60,
        max_spend: SPEND,
        per_conversation: { max_spend: { amount: "999999999.000001", currency: "USD" } },
        per_tool: { max_spend: { amount: "3", currency: "JPY" } },
      },
    });
    expect(budgets.turn).toEqual({
      maxSteps: null,
      maxCalls: null,
      maxMs: 60_000,
      maxSpend: { microUnits: 5_070_000, currency: "EUR" },
    });
    expect(budgets.conversation.maxSpend?.microUnits).toBe(999_999_999_000_001);
    expect(budgets.tool.maxSpend?.microUnits).toBe(3_000_000);
  });

  test("of `strict` limit a turn, unless the policy has its own", () => {
    const { budgets } = compiled({ preset: "strict", budgets: { max_steps: 7 } });
    expect(budgets.turn).toEqual({ maxSteps: 7, maxCalls: 12, maxMs: 60_000, maxSpend: null });
    expect(budgets.conversation.maxCalls).toBeNull();
  });
});

test("settings that the policy lacks are the preset's", () => {
  expect(compiled({}).loops).toEqual({
    sameOutput: 3,
    anyOutput: null,
    anyPace: 8,
    cycleRounds: 3,
    drift: { warn: 5, refuse: 7 },
    failureSame: 3,
    failureTransient: 5,
    failureTurns: 5,
    failurePauseMs: { min: 60_000, max: 300_000 },
    noProgress: 3,
    rotation: { calls: 24, keys: 8 },
    failureRun: { sameTool: 5, any: 8 },
  });
  const { answersFromRepeat, idempotencyTtlMs, ladder } = compiled({});
  expect([answersFromRepeat, idempotencyTtlMs]).toEqual([1, 86_400_000]);
  expect(ladder).toEqual({ ask: 1, options: 2, userInput: 4, end: null });
  const strict = compiled({ preset: "strict" });
  expect(strict.ladder).toEqual({
    ask: 1,
    options: 2,
    userInput: 3,
    end: { at: 4, lasts: "turn" },
  });
  expect(strict.budgets.turn.maxSteps).toBe(25);
  const none = { ask: null, options: null, userInput: null, end: null };
  expect(compiled({ preset: "observe" }).ladder).toEqual(none);
});

test("each threshold of loops has its own default", () => {
  const { loops } = compiled({
    tool_deduplication: { no_progress_threshold: 4 },
    loops: { rotation: { keys: 3 }, failure_run: { any: 9 } },
  });
  expect(loops).toMatchObject({
    noProgress: 4,
    rotation: { calls: 24, keys: 3 },
    failureRun: { sameTool: 5, any: 9 },
  });
  expect(compiled({}).loops.noProgress).toBe(3);
});

describe("retries", () => {
  const tools: PolicyDocument = {
    tools: { retries: { max_attempts: 2, retryable_status: [503] } },
    tool_schemas: { a: {}, b: { retries: { backoff_ms: [100, 1_000] } } },
  };

  test("come from the tool, key by key, then from the block for all tools", () => {
    const policy = compiled(tools);
    expect(retriesOf(policy.tool("a"))).toEqual({
      maxAttempts: 2,
      retryableStatus: new Set(["503"]),
      backoffMs: null,
    });
    expect(retriesOf(policy.tool("b"))).toMatchObject({
      maxAttempts: 2,
      backoffMs: { min: 100, max: 1_000 },
    });
  });

  test("are absent without a block, and have defaults in an empty one", () => {
    expect(retriesOf(compiled({ tool_schemas: { a: {} } }).tool("a"))).toBeNull();
    const retries = retriesOf(compiled({ tools: { retries: {} } }).tool("a"));
    expect([retries?.maxAttempts, [...(retries?.retryableStatus ?? [])]]).toEqual([
      3,
      ["408", "429", "500", "502", "503", "504"],
    ]);
  });
});

test("similarity and sensitive arguments are compiled with their path", () => {
  const tool = compiled({
    tool_schemas: {
      w: { similarity: [{ field: "content", threshold: 0.9 }], sensitive: ["card"] },
    },
  }).tool("w");
  expect([tool.similarity, tool.sensitive]).toEqual([
    [
      {
        field: "content",
        threshold: 0.9,
        with: [],
        key: sketchKey(0, "w", []),
        rule: "tool_schemas.w.similarity[0]",
      },
    ],
    [["card"]],
  ]);
});

describe("`strict` holds writes that no rule covers", () => {
  const policy = compiled({
    preset: "strict",
    tool_schemas: {
      write: {},
      look: { read_only: true },
      low: { risk_level: "LOW" },
      mid: { risk_level: "MEDIUM" },
    },
  });

  test.each([
    ["write", "hitl"],
    ["mid", "hitl"],
    ["look", "allow"],
    ["low", "allow"],
  ])("%s: %s", (name, action) => {
    expect(policy.tool(name).tier.action).toBe(action);
  });
});

describe("acknowledgement", () => {
  const { acknowledges, acknowledgement } = compiled({ acknowledgement: { mode: "explicit" } });

  test.each([
    ["Let me try writing the file again", false],
    ["Instead, I will check if pygame is installed first", true],
    ["I'LL VERIFY the path", true],
    ["Let me try the same command", false],
    ["Done.", false],
    ["", false],
  ])("%s: %s", (text, expected) => {
    expect(acknowledges(text)).toBe(expected);
  });

  test("has its mode from the policy, then from the preset", () => {
    expect(acknowledgement).toBe("explicit");
    const modes = (["observe", "balanced", "strict"] as const).map(
      (preset) => compiled({ preset }).acknowledgement,
    );
    expect(modes).toEqual(["off", "implicit", "explicit"]);
  });

  test("uses the patterns of the policy instead of its own", () => {
    const own = compiled({
      acknowledgement: { mode: "explicit", patterns: ["^ok"], unless: ["no"] },
    });
    expect(["OK then", "not ok", "ok no"].map(own.acknowledges)).toEqual([true, false, false]);
  });
});
