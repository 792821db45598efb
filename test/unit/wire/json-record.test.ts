import { describe, expect, test } from "vitest";
import type { GateInput } from "../../../services/core/inputs.ts";
import { createAvroCodec } from "../../../services/wire/codec.ts";
import { SAMPLE_RESULT, SAMPLE_SECRETS, SAMPLE_VERDICT } from "../../support/wire/samples.ts";

const codec = createAvroCodec({ secrets: SAMPLE_SECRETS });

const read = (topic: "results" | "verdicts", value: object | string) =>
  codec.decodeInput(topic, Buffer.from(typeof value === "string" ? value : JSON.stringify(value)));

function membersOf({ type: _, ...members }: GateInput): object {
  return members;
}

const CALL = { conversationId: "c", callId: "1", decisionId: "d" };

describe("a result as plain JSON", () => {
  test("is the result of the same Avro record", () => {
    const avro = codec.decodeInput("results", codec.encodeResult(SAMPLE_RESULT));
    expect(read("results", membersOf(SAMPLE_RESULT))).toStrictEqual(structuredClone(avro));
  });

  test("needs only what names the call and its status", () => {
    expect(read("results", { ...CALL, status: "started" })).toMatchObject({
      ok: true,
      input: { type: "result", tenantId: "default", ...CALL, status: "started", output: null },
    });
  });

  test("may leave out members of its error", () => {
    const failed = { ...CALL, status: "failed", error: { message: "no" } };
    expect(read("results", failed)).toMatchObject({
      input: { error: { code: null, message: "no", retryable: null } },
    });
  });

  test.each([
    [{ status: 1 }, "`status` must be text"],
    [{ callId: undefined }, "`callId` must be given, as text"],
    [{ decisionId: null }, "`decisionId` must be given, as text"],
    [{ tenantId: null }, "`tenantId` must be given, as text"],
    [{ tenantId: "a/b" }, "`tenantId` must be"],
    [{ status: "finished" }, "`finished` is not a result status that is known here"],
    [{ output: { id: 7 } }, "`output` must be text"],
    [{ outputBytes: 1.5 }, "`outputBytes` must be a whole number of at most 4503599627370495"],
    [{ durationMs: -1 }, "`durationMs` must not be negative"],
    [{ error: "no" }, "`error` must be an object of `code`, `message`, `retryable`"],
    [{ error: [] }, "`error` must be an object"],
    [{ error: { code: "1" } }, "`error.message` must be given, as text"],
    [{ error: { message: "no", retryable: 1 } }, "`error.retryable` must be true or false"],
    [{ error: { message: "no", kind: 1 } }, "unknown field `error.kind`"],
    [{ cost: { microUnits: 5 } }, "`cost.currency` must be given, as text"],
    [{ state: "done" }, "unknown field `state`"],
  ])("with %j is refused", (change, problem) => {
    const decoded = read("results", { ...CALL, status: "succeeded", ...change });
    expect(decoded).toEqual({ ok: false, message: expect.stringContaining(problem) });
  });

  test("has all its problems in one message", () => {
    expect(read("results", { status: 1, a: 2 })).toHaveProperty(
      "message",
      expect.stringMatching(/unknown field `a`.*`conversationId`.*`callId`.*`status`/),
    );
  });

  test.each(["{", "{}x", '{"status":"a","status":"b"}', '{"output":NaN}'])(
    "that is %s is no strict JSON",
    (text) => {
      expect(read("results", text)).toHaveProperty("message", expect.stringMatching(/^not strict/));
    },
  );

  test("may have an output of a million characters", () => {
    const output = "x".repeat(1_000_000);
    const decoded = read("results", { ...CALL, status: "succeeded", output });
    expect(decoded).toHaveProperty("input.output.length", output.length);
  });
});

describe("a verdict as plain JSON", () => {
  test("is the verdict of the same Avro record", () => {
    const avro = codec.decodeInput("verdicts", codec.encodeVerdict(SAMPLE_VERDICT));
    const { about, ...members } = membersOf(SAMPLE_VERDICT) as { about?: object };
    expect(read("verdicts", { ...members, ...about })).toStrictEqual(structuredClone(avro));
  });

  test("needs only what its kind needs", () => {
    const approve = { kind: "approve", conversationId: "c", approvalId: "h", by: "ann" };
    expect(read("verdicts", approve)).toMatchObject({
      ok: true,
      input: { ...approve, tenantId: "default", reason: null, calls: null },
    });
  });

  test.each([
    [{ by: undefined }, "a verdict must say `by`"],
    [{ conversationId: undefined }, "a verdict must say `conversationId`"],
    [{ kind: "permit" }, "`permit` is not a verdict kind that is known here"],
    [{ calls: 2 ** 31 }, "`calls` must be a whole number of at most 2147483647"],
    [{ untilMs: "tomorrow" }, "`untilMs` must be a whole number"],
    [{ by: "an\u200bn" }, "`by`"],
  ])("with %j is refused", (change, problem) => {
    const verdict = { kind: "grant", conversationId: "c", tier: "t", by: "ann", ...change };
    const decoded = read("verdicts", verdict);
    expect(decoded).toEqual({ ok: false, message: expect.stringContaining(problem) });
  });
});
