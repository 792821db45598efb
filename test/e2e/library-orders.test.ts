// The orders of a person through the library, on a gate whose log is on disk.
import { describe, expect, it, onTestFinished } from "vitest";
import { type Callgate, openCallgate } from "../../services/library/callgate.ts";
import { makeDirectory } from "../support/open-gate.ts";

const CONVERSATION = { conversationId: "c" };
const SAID = { by: "ann", reason: "seen" };
const POLICY = {
  tool_schemas: { pay: {}, look: { read_only: true } },
  authorization: { tiers: [{ name: "removals", pattern: "delete_*", action: "hitl" }] },
};

async function open(): Promise<Callgate> {
  const gate = await openCallgate({ policy: POLICY, dataDir: makeDirectory() });
  onTestFinished(() => gate.close());
  return gate;
}

let steps = 0;
function call(tool: string, args: object = {}) {
  steps += 1;
  return { ...CONVERSATION, turn: 1, step: steps, callId: `${steps}`, tool, arguments: args };
}

describe("a person's orders through the library", () => {
  it("grants calls before anybody asks, so many, and withdraws the rest", async () => {
    const gate = await open();
    const grant = { ...SAID, tier: "removals", calls: 2 };
    const early = await gate.grant(CONVERSATION, grant);
    expect(early).toEqual({ taken: false, why: "unknown_conversation" });
    await gate.propose(call("look"));
    expect(await gate.grant(CONVERSATION, grant)).toEqual({ taken: true });
    expect((await gate.propose(call("delete_a"))).outcome).toBe("allowed");
    expect(await gate.revoke(CONVERSATION, { ...SAID, tier: "removals" })).toEqual({ taken: true });
    expect((await gate.propose(call("delete_b"))).outcome).toBe("held");
  });

  it("withdraws a held call", async () => {
    const gate = await open();
    const { approvalId = "" } = await gate.propose(call("delete_a"));
    expect(await gate.pending()).toHaveLength(1);
    const decision = await gate.cancel(approvalId, SAID);
    expect(decision).toMatchObject({ outcome: "refused", refusal: { reason: "approval_denied" } });
    expect(await gate.pending()).toEqual([]);
  });

  it("settles a call whose outcome is unknown, once", async () => {
    const gate = await open();
    const { decisionId = "" } = await gate.propose(call("pay", { order: 1 }));
    await gate.report(decisionId, { status: "unknown" });
    const refused = await gate.propose(call("pay", { order: 1 }));
    expect(refused.refusal?.reason).toBe("outcome_unknown");
    expect(refused.refusal?.userMessage).toContain(`callgate calls reconcile ${decisionId}`);
    const outcome = { ...SAID, outcome: "not_executed" } as const;
    expect(await gate.reconcile(decisionId, outcome)).toEqual({ taken: true });
    expect((await gate.propose(call("pay", { order: 1 }))).outcome).toBe("allowed");
    expect(await gate.reconcile(decisionId, outcome)).toMatchObject({ taken: false });
    await expect(gate.reconcile("0", outcome)).rejects.toMatchObject({ code: "unknown_decision" });
  });

  it("ends a conversation and opens it again", async () => {
    const gate = await open();
    await gate.propose(call("look"));
    expect(await gate.endConversation(CONVERSATION, SAID)).toEqual({ taken: true });
    const refused = await gate.propose(call("pay"));
    expect(refused.refusal?.reason).toBe("conversation_ended");
    expect(await gate.resume(CONVERSATION, SAID)).toEqual({ taken: true });
    expect((await gate.propose(call("pay"))).outcome).toBe("allowed");
    const unknown = await gate.resume({ conversationId: "nobody's" }, SAID);
    expect(unknown).toEqual({ taken: false, why: "unknown_conversation" });
  });

  it.each<readonly [string, (gate: Callgate) => Promise<unknown>, RegExp]>([
    ["without a person", (gate) => gate.resume(CONVERSATION, { by: " " }), /pass `by`/],
    ["on nothing", (gate) => gate.grant(CONVERSATION, SAID as never), /one tier or one tool/],
    [
      "for no call",
      (gate) => gate.grant(CONVERSATION, { ...SAID, tool: "pay", calls: 0 }),
      /from 1 to/,
    ],
    [
      "that is over",
      (gate) => gate.grant(CONVERSATION, { ...SAID, tool: "pay", untilMs: 1 }),
      /in the future/,
    ],
    [
      "on a conversation without a name",
      (gate) => gate.endConversation({ conversationId: "" }, SAID),
      /`conversationId` must be text/,
    ],
  ])("refuses an order %s", async (_what, order, message) => {
    const gate = await open();
    await expect(order(gate)).rejects.toThrow(message);
  });
});
