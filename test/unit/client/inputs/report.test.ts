// How much of an output is sent: all of it, its beginning, or none.
import { describe, expect, test } from "vitest";
import {
  type CallReport,
  checkReport,
  resultInput,
} from "../../../../services/client/inputs/report.ts";

const NAMES = { tenantId: "t", conversationId: "c", callId: "a", decisionId: "d" };
const READ = { ...NAMES, isRead: true };
const WRITE = { ...NAMES, isRead: false };
const DIGEST = expect.stringMatching(/^[0-9a-f]{64}$/);

function sent(call: typeof READ, output: unknown, outputBytes = 1_000) {
  const input = resultInput(call, { status: "succeeded", output }, outputBytes);
  return { output: input.output, digest: input.outputDigest, bytes: input.outputBytes };
}

test("sends no output if there is none", () => {
  for (const call of [READ, WRITE]) {
    expect(sent(call, undefined)).toEqual({ output: null, digest: null, bytes: null });
  }
});

test("sends the whole output if it can be represented", () => {
  for (const call of [READ, WRITE]) {
    expect(sent(call, { id: 5 })).toEqual({ output: '{"id":5}', digest: null, bytes: 8 });
  }
});

test("sends only a digest and a length if JSON has no form for the output", () => {
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  for (const call of [READ, WRITE]) {
    for (const output of [cyclic, new Map([[1, 2]]), () => 1, Symbol("a")]) {
      expect(sent(call, output)).toEqual({
        output: null,
        digest: DIGEST,
        bytes: expect.any(Number),
      });
      expect(sent(call, output).bytes).toBeGreaterThan(0);
    }
  }
});

test("sends and marks the JSON form of a write, whose result stays identified", () => {
  expect(sent(WRITE, { id: 5n })).toEqual({ output: '{"id":"5"} ', digest: null, bytes: 11 });
});

test("marks the JSON form of a read, so that it is not answered from memory", () => {
  expect(sent(READ, { id: 5n })).toEqual({ output: '{"id":"5"} ', digest: DIGEST, bytes: 12 });
});

test("never sends a text with half a character as complete", () => {
  for (const call of [READ, WRITE]) {
    expect(sent(call, "\ud800x")).toMatchObject({ digest: DIGEST, bytes: 5 });
  }
});

test("sends the beginning of an output that is too long", () => {
  const large = { rows: "x".repeat(2_000), at: new Date(0) };
  const { output, bytes } = sent(READ, large);
  expect(output).toHaveLength(1_000);
  expect(bytes).toBeGreaterThan(2_000);
});

describe("a report", () => {
  test.each<CallReport>([
    { status: "succeeded", output: { id: 1 }, durationMs: 3 },
    { status: "failed", error: { message: "no" } },
    { status: "not_executed" },
    { status: "succeeded", cost: { microUnits: 5, currency: "EUR" } },
  ])("accepts %j", (report) => {
    expect(() => checkReport(report)).not.toThrow();
  });

  test.each([
    [null, "must be an object"],
    [{}, "`status` must be one of started, succeeded"],
    [{ status: "done" }, "`status` must be one of"],
    [{ status: "succeeded", durationMs: "3" }, "`durationMs` must be a number"],
    [{ status: "succeeded", durationMs: 1e300 }, "`durationMs` must be a number"],
    [{ status: "succeeded", cost: 5 }, "`cost` must be { microUnits"],
    [
      { status: "succeeded", cost: { microUnits: 0.5, currency: "EUR" } },
      "`cost.microUnits` must be a whole",
    ],
    [{ status: "succeeded", cost: { microUnits: -5, currency: "EUR" } }, "`cost.microUnits` must"],
    [{ status: "succeeded", cost: { microUnits: 5, currency: "eur" } }, "`cost.currency` must"],
    [{ status: "succeeded", cost: { amount: 5, currency: "EUR" } }, "amount"],
    [{ status: "succeeded", cost: {} }, "`cost.microUnits` must"],
    [{ status: "failed", error: "no" }, "`error` must be an object"],
  ])("rejects %j with the problem", (report, message) => {
    expect(() => checkReport(report as CallReport)).toThrow(message);
  });
});
