// Who hears of which decisions.
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import type { Callgate } from "../../../services/client/api/callgate.ts";
import type { CallNames, Decision } from "../../../services/client/api/gate-types.ts";
import { composeCallgate } from "../../../services/client/compose-callgate.ts";
import { GateClient } from "../../../services/client/gate-client.ts";
import { linkToRemote } from "../../../services/client/remote-link.ts";
import { linkToEmbedded } from "../../../services/library/embedded-link.ts";
import { openEmbedded } from "../../../services/library/open-embedded.ts";
import { openGate, SHOP_POLICY } from "../../support/open-gate.ts";

const CALL = { conversationId: "c1", turn: 1, tool: "charge_card", arguments: { order: "7" } };
const REMOVAL = { conversationId: "c1", turn: 1, tool: "delete_order", arguments: { order: "7" } };

type Heard = { readonly decision: Decision; readonly call: CallNames };

function listen(gate: Callgate): { readonly heard: Heard[]; readonly stop: () => void } {
  const heard: Heard[] = [];
  const stop = gate.onDecision((decision, call) => heard.push({ decision, call }));
  return { heard, stop };
}

const outcomes = (heard: readonly Heard[]) =>
  heard.map(({ decision }) => `${decision.tool} ${decision.outcome}`);

/** A gate in this process, and a client that sees only its log. */
async function openBoth() {
  const embedded = await openEmbedded({
    policy: { document: SHOP_POLICY },
    dataDir: false,
    secret: "a secret that is long enough",
  });
  const link = linkToEmbedded(embedded);
  const limits = { timeoutMs: 5_000, onLost: undefined };
  const gate = composeCallgate(link, new GateClient(link, limits));
  const remote = linkToRemote({
    ...{ log: embedded.log, codec: embedded.codec, clock: systemClock, secrets: new Map() },
    close: () => Promise.resolve(),
    abandon: () => undefined,
  });
  const client = composeCallgate(remote, new GateClient(remote, limits));
  onTestFinished(async () => {
    await client.close();
    await gate.close();
  });
  return { gate, client };
}

describe("a listener of a gate in this process", () => {
  test("hears each decision once, with the names of its call", async () => {
    const gate = await openGate();
    const { heard } = listen(gate);
    const names = { tenantId: "acme", agentId: "ann" };
    const decision = await gate.propose({ ...CALL, ...names });
    expect(heard).toEqual([
      { decision, call: { tenantId: "acme", conversationId: "c1", agentId: "ann" } },
    ]);
    await gate.guard({ get_order: () => 1 }, { conversationId: "c1", turn: 1 }).get_order();
    expect(heard[1]).toMatchObject({ call: { tenantId: "default", agentId: null } });
    expect(outcomes(heard)).toEqual(["charge_card allowed", "get_order allowed"]);
  });

  test("hears of a repeated proposal that it is repeated", async () => {
    const gate = await openGate();
    const { heard } = listen(gate);
    await gate.propose({ ...CALL, callId: "a" });
    await gate.propose({ ...CALL, callId: "a" });
    expect(heard.map(({ decision }) => decision.repeated)).toEqual([false, true]);
  });

  test("hears what a hold becomes", async () => {
    const gate = await openGate();
    const { heard } = listen(gate);
    const held = await gate.propose(REMOVAL);
    await gate.approve(held.approvalId ?? "", { by: "ann" });
    const second = await gate.propose({ ...REMOVAL, arguments: { order: "8" } });
    await gate.deny(second.approvalId ?? "", { by: "ann" });
    expect(outcomes(heard)).toEqual([
      "delete_order held",
      "delete_order allowed",
      "delete_order held",
      "delete_order refused",
    ]);
  });

  test("hears of a hold that expires", async () => {
    const tiers = [{ name: "removals", pattern: "delete_*", action: "hitl", expires_ms: 1_000 }];
    const gate = await openGate({ policy: { ...SHOP_POLICY, authorization: { tiers } } });
    const { heard } = listen(gate);
    await gate.propose(REMOVAL);
    await vi.waitFor(() => expect(heard).toHaveLength(2), { timeout: 8_000 });
    expect(heard[1]?.decision.refusal?.reason).toBe("approval_expired");
  });

  test("hears of decisions on calls of other programs", async () => {
    const { gate, client } = await openBoth();
    const { heard } = listen(gate);
    await client.propose(CALL);
    expect(outcomes(heard)).toEqual(["charge_card allowed"]);
  });

  test("hears that the gate is closed", async () => {
    const gate = await openGate();
    const { heard } = listen(gate);
    await gate.close();
    await gate.propose(CALL);
    expect(heard).toMatchObject([
      {
        decision: { refusal: { reason: "gate_unavailable" } },
        call: { tenantId: "default", conversationId: "c1", agentId: null },
      },
    ]);
  });

  test("hears nothing after it is removed, and others still do", async () => {
    const gate = await openGate();
    const first = listen(gate);
    const second = listen(gate);
    first.stop();
    first.stop();
    await gate.propose(CALL);
    expect([first.heard.length, second.heard.length]).toEqual([0, 1]);
  });

  test("is told before the call goes on", async () => {
    const gate = await openGate();
    const order: string[] = [];
    gate.onDecision(({ outcome }) => order.push(outcome));
    const tools = gate.guard({ get_order: () => order.push("ran") }, { conversationId: "c1" });
    await tools.get_order();
    expect(order).toEqual(["allowed", "ran"]);
  });

  test("must be a function", async () => {
    const gate = await openGate();
    expect(() => gate.onDecision(1 as never)).toThrow("`onDecision` needs a function");
  });
});

test("a listener of a gate elsewhere hears of its program's calls and verdicts", async () => {
  const { gate, client } = await openBoth();
  const { heard } = listen(client);
  await gate.propose(CALL);
  const held = await client.propose(REMOVAL);
  await client.approve(held.approvalId ?? "", { by: "ann" });
  expect(outcomes(heard)).toEqual(["delete_order held", "delete_order allowed"]);
  expect(heard[1]?.call).toEqual({ tenantId: "default", conversationId: "c1", agentId: null });
});
