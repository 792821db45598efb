import { describe, expect, test } from "vitest";
import { openCallgate } from "../../../services/sdk/callgate.ts";

const POLICY = { tool_schemas: { pay: {} } };
const secret = "a secret for this test alone, and no other";

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** As a program without types may write it. */
const untyped = (value: unknown): never => value as never;

describe("a misspelled member", () => {
  test.each([
    [{ policy: POLICY, datadir: "x" }, "`datadir` is not known; known are policy,"],
    [{ policy: POLICY, dataDir: "" }, "`dataDir` must be the path of a directory, or false"],
    [{ policy: POLICY, dataDir: true }, "`dataDir` must be the path of a directory, or false"],
    [{ policy: POLICY, dataDir: false, timeoutMs: Number.NaN }, "`timeoutMs` must be a number"],
    [{ dataDir: false }, "`policy` is missing"],
    [undefined, "it must be an object"],
  ])("of the options is told: %j", async (options, message) => {
    const error = await errorOf(openCallgate(untyped(options)));
    expect(error).toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(message),
    });
  });

  test.each([
    [{ conversationId: "c", tool: "pay", args: { a: 1 } }, "`args` is not known; known are"],
    [{ conversationId: "c", tool: "pay", arguments: {}, trun: 1 }, "`trun` is not known"],
    [undefined, "it must be an object"],
  ])("of a proposal is told, and nothing is decided: %j", async (call, message) => {
    const gate = await openCallgate({ policy: POLICY, dataDir: false, secret });
    const error = await errorOf(gate.propose(untyped(call)));
    expect(error).toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(message),
    });
    await gate.close();
  });

  test("of a report is told", async () => {
    const gate = await openCallgate({ policy: POLICY, dataDir: false, secret });
    const call = { conversationId: "c", tool: "pay", arguments: {} };
    const { decisionId } = await gate.propose(call);
    const report = untyped({ status: "succeeded", otput: 1 });
    expect(await errorOf(gate.report(decisionId ?? "", report))).toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("`otput` is not known"),
    });
    await gate.close();
  });
});

test("the first of two who must approve is told that the call waits on, and the same one that it was said", async () => {
  const tiers = [{ name: "two", pattern: "pay", action: "hitl", approvals: 2 }];
  const policy = { ...POLICY, authorization: { tiers } };
  const gate = await openCallgate({ policy, dataDir: false, secret });
  const held = await gate.propose({ conversationId: "c", tool: "pay", arguments: {} });
  if (held.outcome !== "held") throw new Error(held.outcome);
  const { approvalId } = held;
  const first = await gate.approve(approvalId, { by: "ann" });
  expect(first).toMatchObject({ outcome: "held", approvalId, callId: held.callId });
  expect(await errorOf(gate.approve(approvalId, { by: "ann" }))).toMatchObject({
    message: expect.stringContaining("has approved"),
  });
  const further = { by: "ben", further: { calls: 3 } };
  expect(await errorOf(gate.approve(approvalId, further))).toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("several approvals"),
  });
  expect(await gate.approve(approvalId, { by: "ben" })).toMatchObject({ outcome: "allowed" });
  await gate.close();
});
