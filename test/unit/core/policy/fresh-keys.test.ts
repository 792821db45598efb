import { describe, expect, test } from "vitest";
import { leaveOutFreshKeys, mayHaveFreshKey } from "../../../../services/core/policy/fresh-keys.ts";
import { HOUR, startStory } from "../../../support/decider-spec.ts";

describe("a write with a key that is made up for each try", () => {
  test.each(["idempotency_key", "idempotencyKey", "Idempotency-Key", "nonce", "trace_id"])(
    "is the same call whatever %s holds",
    (key) => {
      const story = startStory({ tool_schemas: { refund: {} } });
      story.done("refund", { order: "7", [key]: "k1" });
      expect(story.reason("refund", { order: "7", [key]: "k2" })).toBe("duplicate_call");
      story.allowed("refund", { order: "8", [key]: "k3" });
    },
  );

  test.each([
    ["request_id", "approve"],
    ["timestamp", "approve"],
    ["trace_id", "annotate_trace"],
  ])("is another call where %s may be what %s is about", (key, tool) => {
    const story = startStory({ tool_schemas: { [tool]: {} } });
    story.done(tool, { decision: "yes", [key]: "1" });
    story.allowed(tool, { decision: "yes", [key]: "2" });
  });

  test("is another call where nothing else is left, or the policy names the key", () => {
    const story = startStory({
      tool_schemas: { refund: {}, pay: { normalizers: { nonce: [{ name: "trim", arguments: [] }] } } },
    });
    story.done("refund", { nonce: "1" });
    story.allowed("refund", { nonce: "2" });
    story.done("pay", { order: "7", nonce: "1" });
    story.allowed("pay", { order: "7", nonce: "2" });
  });

  test("is another call under byte_hash, and for a read", () => {
    const exact = startStory({
      deduplication: { strategy: "byte_hash" },
      tool_schemas: { refund: {} },
    });
    exact.done("refund", { order: "7", nonce: "1" });
    exact.allowed("refund", { order: "7", nonce: "2" });
    const story = startStory({ tool_schemas: { get_log: { read_only: true } } });
    story.done("get_log", { lines: 5, trace_id: "1" });
    story.allowed("get_log", { lines: 5, trace_id: "2" });
  });

  test("is looked at only where its name stands in the arguments", () => {
    expect(mayHaveFreshKey('{"note":"nonce"}')).toBe(false);
    expect(leaveOutFreshKeys({ note: "nonce" }, "refund", {})).toBeNull();
  });
});

describe("a read that is asked for afresh", () => {
  test.each(["fresh", "refresh", "force_refresh", "no_cache"])("by %s runs again", (key) => {
    const story = startStory({ tool_schemas: { look: { read_only: true } } });
    story.done("look", { id: 1, [key]: true }, "v1");
    story.done("look", { id: 1, [key]: true }, "v2");
    story.done("look", { id: 1, [key]: false }, "v1");
    expect(story.reason("look", { id: 1, [key]: false })).toBe("duplicate_call");
  });
});

describe("a write of one step", () => {
  test("is a duplicate however long ago it was made", () => {
    const story = startStory({ tool_schemas: { send: {}, log: { repeatable: true } } });
    const step = { step: "s" };
    story.reported(story.allowed("send", {}, step), { output: "sent" });
    story.reported(story.allowed("log", {}, step), { output: "done" });
    story.after(HOUR);
    story.allowed("log", {}, step);
    const late = startStory({ tool_schemas: { send: {} } });
    late.reported(late.allowed("send", {}, step), { output: "sent" });
    expect(late.after(HOUR).reason("send", {}, step)).toBe("duplicate_call");
    late.allowed("send", {}, { step: "t" });
  });
});
