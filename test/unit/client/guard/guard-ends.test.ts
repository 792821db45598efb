/** What the caller of a guarded tool receives after an unusual end. */
import { describe, expect, test } from "vitest";
import { isRefused } from "../../../../services/library/callgate.ts";
import { openGate } from "../../../support/open-gate.ts";

const CONTEXT = { conversationId: "c1", turn: 1 };

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

test.each([
  ["a function without a text", Object.assign(() => 1, { toString: 5, valueOf: 5 })],
  ["a function that nobody may look at", revoked(() => undefined)],
  ["an object that nobody may look at", revoked({})],
])("counts a tool that throws %s as run and failed", async (_what, thrown) => {
  const gate = await openGate();
  const charge = (_: { order: string }) => Promise.reject(thrown);
  const tools = gate.guard({ charge_card: charge }, CONTEXT);
  const call = { tool: "charge_card", arguments: { order: "7" }, callId: "call-7" };
  // Wrapped, because resolving with the proxy would access it.
  const caught = await tools.charge_card(call.arguments, { callId: call.callId }).then(
    () => ({ error: "nothing was thrown" }),
    (error: unknown) => ({ error }),
  );
  expect(caught.error === thrown).toBe(true);
  const { decisionId = "" } = await gate.propose({ ...CONTEXT, ...call });
  expect(await gate.awaitResult(decisionId, { timeoutMs: 0 })).toMatchObject({ status: "failed" });
});

describe("closing", () => {
  const open = async () => {
    const gate = await openGate();
    const begun: string[] = [];
    const charge = ({ order }: { order: string }) => {
      begun.push(order);
      return new Promise(() => undefined);
    };
    return { gate, begun, tools: gate.guard({ charge_card: charge }, CONTEXT) };
  };

  test("says that an aborted call may have taken effect", async () => {
    const { gate, begun, tools } = await open();
    const broken = tools.charge_card({ order: "7" }).catch((error: unknown) => error);
    await expect.poll(() => begun).toEqual(["7"]);
    await gate.close({ timeoutMs: 1 });
    const error = await broken;
    expect(error).toMatchObject({ name: "CallgateError", code: "closed" });
    expect(String(error)).toContain("may have taken effect");
  });

  test("refuses calls that wait for their turn, because they never ran", async () => {
    const { gate, begun, tools } = await open();
    const broken = tools.charge_card({ order: "7" }).catch((error: unknown) => error);
    await expect.poll(() => begun).toEqual(["7"]);
    const queued = tools.charge_card({ order: "8" });
    const identified = tools.charge_card({ order: "9" }, { callId: "call-9" });
    // Answers come in the order of the requests: both calls are decided, and wait for their turn.
    await gate.propose({ ...CONTEXT, tool: "get_order", arguments: {} });
    await gate.close({ timeoutMs: 1 });
    await broken;
    for (const answer of [await queued, await identified]) {
      expect(isRefused(answer)).toBe(true);
      expect(answer).toMatchObject({ reason: "gate_unavailable", detail: "closed" });
    }
    expect(await identified).toMatchObject({
      message: expect.stringContaining("can no longer run"),
    });
    expect(begun).toEqual(["7"]);
  });
});
