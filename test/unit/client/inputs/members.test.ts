import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { connectCallgate, openCallgate } from "../../../../services/library/callgate.ts";
import { makeDirectory, openGate } from "../../../support/open-gate.ts";

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
    [{ policy: POLICY, datadir: "x" }, "`datadir` is unknown; use one of policy,"],
    [{ policy: POLICY, dataDir: "" }, "`dataDir` must be the path of a directory, or false"],
    [{ policy: POLICY, dataDir: true }, "`dataDir` must be the path of a directory, or false"],
    [{ policy: POLICY, dataDir: false, timeoutMs: Number.NaN }, "`timeoutMs` must be a number"],
    [{ dataDir: false }, "`policy` is missing"],
    [{ policy: 7 }, "`policy` must be paths of policy files, or an object"],
    [{ policy: [] }, "`policy` must be paths of policy files, or an object"],
    [{ policy: ["a.yaml", 7] }, "`policy` must be paths of policy files, or an object"],
    [{ policy: POLICY, dataDir: false, secret: 9999 }, "`secret` must be text or bytes"],
    [{ policy: POLICY, dataDir: false, secret: {} }, "`secret` must be text or bytes"],
    [
      { policy: POLICY, dataDir: false, secret: ["long enough, it is text", 9] },
      "`secret` must be text or bytes",
    ],
    [
      { policy: POLICY, dataDir: false, secret: Promise.resolve(secret) },
      "await it if it is a promise",
    ],
    [{ policy: POLICY, dataDir: false, onLost: "x" }, "`onLost` must be a function"],
    [
      { policy: POLICY, dataDir: false, normalizers: { x_a: 1 } },
      "`normalizers.x_a` must be a function",
    ],
    [undefined, "it must be an object"],
  ])("of the options is rejected: %j", async (options, message) => {
    const error = await errorOf(openCallgate(untyped(options)));
    expect(error).toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(message),
    });
  });

  const kafka = { brokers: ["127.0.0.1:1"], connectionTimeoutMs: 200 };

  test.each([
    [{ kafka, timeOutMs: 5 }, "`timeOutMs` is unknown; use one of kafka,"],
    [{ kafka, timeoutMs: -1 }, "`timeoutMs` must be a number of milliseconds above 0"],
    [{ kafka, timeoutMs: "30s" }, "`timeoutMs` must be a number"],
    [{ kafka, onLost: "x" }, "`onLost` must be a function"],
    [{ kafka, secret: 9999 }, "`secret` must be text or bytes"],
    [undefined, "it must be an object"],
  ])("of the connection options is rejected before connecting: %j", async (options, message) => {
    expect(await errorOf(connectCallgate(untyped(options)))).toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(message),
    });
  });

  test.each([
    [{ timeoutMs: -1 }, "`timeoutMs` must be a number of milliseconds, 0 or more"],
    [{ timeoutMs: Number.NaN }, "`timeoutMs` must be a number"],
    [{ timeoutMs: "5000" }, "`timeoutMs` must be a number"],
    [{ timeout: 5 }, "`timeout` is unknown"],
    [null, "it must be an object"],
  ])("of the close options is rejected, and the gate stays open: %j", async (options, message) => {
    const gate = await openGate();
    expect(await errorOf(gate.close(untyped(options)))).toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(message),
    });
    const call = { conversationId: "c", tool: "get_order", arguments: {} };
    expect((await gate.propose(call)).outcome).toBe("allowed");
    await gate.close({ timeoutMs: 0 });
  });

  test.each([
    [{ conversationId: "c", tool: "pay", args: { a: 1 } }, "`args` is unknown; use one of"],
    [{ conversationId: "c", tool: "pay", arguments: {}, trun: 1 }, "`trun` is unknown"],
    [undefined, "it must be an object"],
  ])("of a proposal is rejected, and nothing is decided: %j", async (call, message) => {
    const gate = await openCallgate({ policy: POLICY, dataDir: false, secret });
    const error = await errorOf(gate.propose(untyped(call)));
    expect(error).toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(message),
    });
    await gate.close();
  });

  test("of a report is rejected", async () => {
    const gate = await openCallgate({ policy: POLICY, dataDir: false, secret });
    const call = { conversationId: "c", tool: "pay", arguments: {} };
    const { decisionId } = await gate.propose(call);
    const report = untyped({ status: "succeeded", otput: 1 });
    expect(await errorOf(gate.report(decisionId ?? "", report))).toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("`otput` is unknown"),
    });
    await gate.close();
  });
});

describe("a verdict", () => {
  test.each([
    [{ by: "ann", reson: "x" }, "`reson` is unknown; use one of by, reason, further"],
    [{ by: "ann", further: { calls: "any", untilMS: 1 } }, "`untilMS` is unknown"],
    [{ by: "ann", reason: 7 }, "`reason` must be text"],
    [{ by: " " }, "must say who gives it"],
    [{ by: "an\u200bn" }, "`by` has characters that nobody sees"],
    [undefined, "it must be an object"],
  ])("is rejected if a member is wrong: %j", async (verdict, message) => {
    const tiers = [{ name: "ask", pattern: "pay", action: "hitl" }];
    const policy = untyped({ ...POLICY, authorization: { tiers } });
    const gate = await openCallgate({ policy, dataDir: false, secret });
    const held = await gate.propose({ conversationId: "c", tool: "pay", arguments: {} });
    for (const answer of [gate.approve, gate.deny]) {
      const response = answer.call(gate, held.approvalId ?? "", untyped(verdict));
      expect(await errorOf(response)).toMatchObject({
        code: "invalid_input",
        message: expect.stringContaining(message),
      });
    }
    await gate.close();
  });
});

describe("policy files", () => {
  const files = (...texts: readonly (string | Uint8Array)[]) =>
    texts.map((text, at) => {
      const path = join(makeDirectory(), `${at}.yaml`);
      writeFileSync(path, text);
      return path;
    });
  const deny =
    'authorization: { tiers: [{ name: never, pattern: "wipe_*", action: deny }] }\nunknown_tools: deny\n';

  test("are merged if given as a list", async () => {
    const policy = files(deny, "tool_schemas: { wipe_disk: {}, look: {} }\n");
    const gate = await openCallgate({ policy, dataDir: false, secret });
    const outcomes = await Promise.all(
      ["wipe_disk", "look"].map((tool) =>
        gate.propose({ conversationId: tool, tool, arguments: {} }),
      ),
    );
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["refused", "allowed"]);
    await gate.close();
  });

  test("are rejected with the line if they are not UTF-8", async () => {
    const [policy = ""] = files(
      Buffer.from("# first\ntool_schemas: { l\xf6schen: {} }\n", "latin1"),
    );
    expect(await errorOf(openCallgate({ policy, dataDir: false, secret }))).toMatchObject({
      code: "policy_unreadable",
      message: expect.stringContaining("line 2 is not UTF-8 (byte 0xF6); save the file as UTF-8"),
    });
  });
});

test("the first of two approvers learns that the call still waits, and that a second approval does not count", async () => {
  const tiers = [{ name: "two", pattern: "pay", action: "hitl", approvals: 2 }];
  const policy = { ...POLICY, authorization: { tiers } };
  const gate = await openCallgate({ policy, dataDir: false, secret });
  const held = await gate.propose({ conversationId: "c", tool: "pay", arguments: {} });
  if (held.outcome !== "held") throw new Error(held.outcome);
  const { approvalId } = held;
  const first = await gate.approve(approvalId, { by: "ann" });
  expect(first).toMatchObject({ outcome: "held", approvalId, callId: held.callId });
  expect(await errorOf(gate.approve(approvalId, { by: "ann" }))).toMatchObject({
    message: expect.stringContaining("has already approved"),
  });
  const further = { by: "ben", further: { calls: 3 } };
  expect(await errorOf(gate.approve(approvalId, further))).toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("several approvals"),
  });
  expect(await gate.approve(approvalId, { by: "ben" })).toMatchObject({ outcome: "allowed" });
  await gate.close();
});
