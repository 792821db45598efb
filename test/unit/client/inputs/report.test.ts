// What is sent of an output: all of it, its beginning, or none.
import { expect, test } from "vitest";
import { resultInput } from "../../../../services/client/inputs/report.ts";

const NAMES = { tenantId: "t", conversationId: "c", callId: "a", decisionId: "d" };
const READ = { ...NAMES, isRead: true };
const WRITE = { ...NAMES, isRead: false };
const DIGEST = expect.stringMatching(/^[0-9a-f]{64}$/);

function sent(call: typeof READ, output: unknown, outputBytes = 1_000) {
  const input = resultInput(call, { status: "succeeded", output }, outputBytes);
  return { output: input.output, digest: input.outputDigest, bytes: input.outputBytes };
}

test("none, where there is none", () => {
  for (const call of [READ, WRITE]) {
    expect(sent(call, undefined)).toEqual({ output: null, digest: null, bytes: null });
  }
});

test("all, where it can be given back", () => {
  for (const call of [READ, WRITE]) {
    expect(sent(call, { id: 5 })).toEqual({ output: '{"id":5}', digest: null, bytes: 8 });
  }
});

test("nothing but a digest and a length, where JSON has no form for it", () => {
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

test("of a write what JSON has of it, marked; what its result names stays known", () => {
  expect(sent(WRITE, { id: 5n })).toEqual({ output: '{"id":"5"} ', digest: null, bytes: 11 });
});

test("of a read the same, so that it is not answered from memory", () => {
  expect(sent(READ, { id: 5n })).toEqual({ output: '{"id":"5"} ', digest: DIGEST, bytes: 12 });
});

test("a text with half a character, never as if it were whole", () => {
  for (const call of [READ, WRITE]) {
    expect(sent(call, "\ud800x")).toMatchObject({ digest: DIGEST, bytes: 5 });
  }
});

test("a beginning, where it is longer than is sent", () => {
  const large = { rows: "x".repeat(2_000), at: new Date(0) };
  const { output, bytes } = sent(READ, large);
  expect(output).toHaveLength(1_000);
  expect(bytes).toBeGreaterThan(2_000);
});
