import { expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { compiled } from "../../../support/core/compile.ts";

const windowsOf = (document: PolicyDocument, tool = "any") => {
  const { windowMs, cacheMs, scope, answersAsRead } = compiled(document).tool(tool);
  return { windowMs, cacheMs, scope, answersAsRead };
};

test("the preset's windows are five minutes, one minute, and the conversation", () => {
  expect(windowsOf({})).toEqual({
    windowMs: 300_000,
    cacheMs: 60_000,
    scope: "conversation",
    answersAsRead: false,
  });
});

test("`tools` overrides `deduplication`, and a tool's own window overrides both", () => {
  const document: PolicyDocument = {
    deduplication: { window_ms: 1_000, cache_ttl_ms: 2_000 },
    tools: { dedupe_window_s: 3 },
    tool_schemas: { a: { dedupe_window_s: 4, cache_ttl_s: 5, scope: "turn" }, b: {} },
  };
  expect(windowsOf(document, "a")).toMatchObject({
    windowMs: 4_000,
    cacheMs: 5_000,
    scope: "turn",
  });
  expect(windowsOf(document, "b")).toMatchObject({ windowMs: 3_000, cacheMs: 2_000 });
});

test("tool_deduplication remembers for the turn, unless it is off or a scope is written", () => {
  const age = 7 * 86_400_000;
  expect(windowsOf({ tool_deduplication: { enabled: true } })).toEqual({
    windowMs: age,
    cacheMs: age,
    scope: "turn",
    answersAsRead: true,
  });
  expect(windowsOf({ tool_deduplication: { enabled: false } })).toMatchObject({
    windowMs: 300_000,
  });
  expect(
    windowsOf({
      tool_deduplication: { exact_duplicate_threshold: 1 },
      deduplication: { scope: "conversation" },
    }).scope,
  ).toBe("conversation");
});

test("a threshold of loops or a note in tool_deduplication moves no window", () => {
  for (const block of [{ no_progress_threshold: 6 }, { append_system_note: true }]) {
    expect(windowsOf({ tool_deduplication: block })).toEqual(windowsOf({}));
  }
  const empty = windowsOf({ tool_deduplication: {} });
  expect(empty).toEqual(windowsOf({ tool_deduplication: { enabled: true } }));
});

test("repeats are answered as a read's only without declarations and with a written cache time", () => {
  expect(windowsOf({ tools: { cache_ttl_s: 1 } }).answersAsRead).toBe(true);
  expect(windowsOf({ tools: { cache_ttl_s: 1 }, tool_schemas: { any: {} } }).answersAsRead).toBe(
    false,
  );
});

test("writes are remembered for as long as the longest window of any tool", () => {
  const tool_schemas = { a: { cache_ttl_s: 3_600 }, b: { dedupe_window_s: 1_800 } };
  expect(compiled({ tool_schemas }).longestWindowMs).toBe(3_600_000);
  expect(compiled({}).longestWindowMs).toBe(300_000);
});
