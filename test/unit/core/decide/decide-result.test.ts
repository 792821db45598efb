import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { HOUR, ofType, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  limits: { output_bytes: 40 },
  tool_schemas: {
    look: { read_only: true },
    write: {},
    search: {
      read_only: true,
      error_patterns: ["^Sorry"],
      volatile_output: ["$.took_ms", "$.meta.id", "hits.score"],
    },
    ask: { risk_level: "HIGH" },
  },
};

describe("a result", () => {
  test("is recorded with output, digest and length", () => {
    const story = startStory(POLICY);
    expect(story.reported(story.allowed("look"), { output: "für", durationMs: 5 })).toMatchObject({
      type: "result_recorded",
      tool: "look",
      status: "succeeded",
      output: "für",
      outputBytes: 4,
      outputDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
      whole: true,
      error: null,
      transient: false,
      durationMs: 5,
      effects: null,
      evicted: null,
    });
  });

  test("is recorded without its output where that is larger than the limit", () => {
    const story = startStory(POLICY);
    const whole = story.reported(story.allowed("look", { n: 1 }), { output: "🙂".repeat(10) });
    expect(whole).toMatchObject({ outputBytes: 40, whole: true });
    const more = story.reported(story.allowed("look", { n: 2 }), { output: "🙂".repeat(11) });
    expect(more).toMatchObject({ output: null, outputBytes: 44, whole: false });
  });

  test("is what was reported, whatever its text or the tool's patterns say", () => {
    const story = startStory(POLICY);
    const reported = { status: "succeeded", output: "Sorry, no", basis: "reported" } as const;
    expect(story.reported(story.allowed("search", { n: 1 }), reported)).toMatchObject({
      status: "succeeded",
      error: null,
    });
    const idle = { status: "not_executed", output: "Sorry, no", basis: "text" } as const;
    expect(story.reported(story.allowed("search", { n: 2 }), idle)).toMatchObject({
      status: "not_executed",
      error: null,
    });
  });

  test("that would settle a doubt is ignored where it is of another call", () => {
    const story = startStory(POLICY);
    const call = story.failed("write", { n: 1 });
    const late = { status: "succeeded", callId: "another" } as const;
    expect(story.reported(call, late)).toMatchObject({ type: "ignored", why: "wrong_call" });
    expect(story.reported(call, { status: "succeeded" }).type).not.toBe("ignored");
  });

  test("keeps the reported digest of a cut output", () => {
    const story = startStory(POLICY);
    const result = { output: "cut", outputBytes: 9_000, outputDigest: "d".repeat(64) };
    expect(story.reported(story.allowed("look"), result)).toMatchObject({
      whole: false,
      outputDigest: "d".repeat(64),
    });
  });

  test.each([0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x1_0000, 0x1_03ff, 0x10_ffff])(
    "has its length measured in UTF-8, U+%s too",
    (point) => {
      const story = startStory(POLICY);
      const output = String.fromCodePoint(point);
      const { length } = new TextEncoder().encode(output);
      expect(story.reported(story.allowed("look"), { output })).toMatchObject({
        outputBytes: length,
      });
    },
  );

  test("keeps the reported digest of an error", () => {
    const story = startStory(POLICY);
    const failed = { status: "failed", outputDigest: "e".repeat(64) } as const;
    expect(story.reported(story.allowed("look"), failed)).toMatchObject({
      outputDigest: "e".repeat(64),
    });
  });

  test("is digested as it is where no field is volatile", () => {
    const story = startStory(POLICY);
    const [spaced, tight] = ['{"a": 1}', '{"a":1}'].map((output, n) =>
      ofType(story.reported(story.allowed("look", { n }), { output }), "result_recorded"),
    );
    expect(spaced?.outputDigest).not.toBe(tight?.outputDigest);
  });

  test("is digested without volatile fields, also in lists", () => {
    const story = startStory(POLICY);
    const digest = (output: string, n: number) =>
      ofType(story.reported(story.allowed("search", { n }), { output }), "result_recorded")
        .outputDigest;
    const one = digest('{"took_ms":1,"hits":[{"a":1,"score":2}]}', 1);
    expect(digest('{"hits":[{"score":9,"a":1}],"took_ms":7}', 2)).toBe(one);
    expect(digest('{"hits":[{"a":2}]}', 3)).not.toBe(one);
    expect(digest('{"meta":{"id":1},"x":1}', 4)).toBe(digest('{"x":1,"meta":{"id":2}}', 5));
    expect(digest("took_ms: 1", 6)).not.toBe(digest("took_ms: 2", 7));
  });

  test("that only says that the call began is recorded once", () => {
    const story = startStory(POLICY);
    const call = story.allowed("write");
    expect(story.reported(call, { status: "started" })).toMatchObject({ status: "started" });
    expect(story.reported(call, { status: "started" })).toMatchObject({
      type: "ignored",
      why: "already_reported",
    });
    expect(story.reported(call, { output: "done" })).toMatchObject({ status: "succeeded" });
  });

  test("of unknown outcome is recorded once, and can be settled later", () => {
    const story = startStory(POLICY);
    const call = story.allowed("write");
    story.reported(call, { status: "unknown" });
    for (const status of ["unknown", "started"] as const) {
      expect(story.reported(call, { status })).toMatchObject({ why: "already_reported" });
    }
    expect(story.reported(call, { output: "late" })).toMatchObject({ status: "succeeded" });
    expect(story.refused("write").refusal.previousResult).toMatchObject({ inline: "late" });
  });
});

describe("a failure", () => {
  test.each([
    ["permanent with an ordinary code", { code: "E1", message: "no", retryable: null }, false],
    ["transient by its code", { code: "503", message: "no", retryable: null }, true],
    ["transient by its text", { code: null, message: "Too many requests", retryable: null }, true],
    [
      "transient if it is reported as retryable",
      { code: "E1", message: "no", retryable: true },
      true,
    ],
    [
      "permanent if it is reported as not retryable",
      { code: "503", message: "no", retryable: false },
      false,
    ],
  ])("is %s", (_name, error, transient) => {
    const story = startStory(POLICY);
    expect(story.reported(story.allowed("look"), { status: "failed", error })).toMatchObject({
      status: "failed",
      transient,
      error,
    });
  });

  test("without an error is described by its output", () => {
    const story = startStory(POLICY);
    const result = { status: "failed", output: "gateway timeout" } as const;
    expect(story.reported(story.allowed("look"), result)).toMatchObject({
      transient: true,
      error: { code: null, message: "gateway timeout" },
    });
    expect(story.reported(story.allowed("look", { n: 1 }), { status: "failed" })).toMatchObject({
      error: { message: "" },
    });
  });

  test("in the text of an output is found by the default patterns and the tool's own", () => {
    const story = startStory(POLICY);
    const status = (tool: string, n: number, output: string) =>
      story.reported(story.allowed(tool, { n }), { output, basis: "text" });
    expect(status("look", 1, "Error: 503")).toMatchObject({ status: "failed", transient: true });
    expect(status("look", 2, "Sorry, no")).toMatchObject({ status: "succeeded" });
    expect(status("search", 1, "Sorry, no")).toMatchObject({ status: "failed", transient: false });
  });
});

describe("a result is ignored", () => {
  test("of a call that is not open, or does not exist", () => {
    const story = startStory(POLICY);
    const call = story.done("look");
    expect(story.reported(call, {})).toMatchObject({
      type: "ignored",
      input: "result",
      why: "unknown_call",
      id: call.decisionId,
    });
    expect(story.reported(story.held("ask"), {})).toMatchObject({ why: "unknown_call" });
    const other = startStory(POLICY);
    expect(other.reported(call, {})).toMatchObject({ why: "unknown_call" });
    expect(other.state).toBeUndefined();
  });

  test("that names another call id", () => {
    const story = startStory(POLICY);
    const call = story.allowed("look");
    expect(story.reported(call, { callId: "other" })).toMatchObject({ why: "wrong_call" });
    expect(story.reported(call, { output: "fine" })).toMatchObject({ type: "result_recorded" });
  });
});

test("the first of two results counts, and a superseded call's result does not change the prior call", () => {
  const story = startStory({ ...POLICY, tool_schemas: { log: { batchable: true } } });
  const first = story.allowed("log", {}, { step: "s" });
  const second = story.allowed("log", {}, { step: "s" });
  story.reported(second, { output: "second" });
  story.reported(first, { output: "first" });
  expect(story.refused("log").refusal.previousResult).toMatchObject({ inline: "second" });
  expect(story.after(HOUR).ticked()).toEqual([]);
});
