// Several users of one data directory, of which one decides: the others ask it, and one of them goes
// on when it ends. Each is opened here as a process of its own would open it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { OpenOptions } from "../../../services/client/api/gate-types.ts";
import { CallgateError, isRefused } from "../../../services/library/callgate.ts";
import { makeDirectory, openGate, SHOP_POLICY } from "../../support/open-gate.ts";
import { CLAIMS, makeKeys, sign } from "../../support/token-kit.ts";

const CONTEXT = { conversationId: "c1", turn: 1 };
const PAY = { ...CONTEXT, callId: "call-1", tool: "charge_card", arguments: { order: "7" } };
const REMOVAL = { ...CONTEXT, callId: "call-2", tool: "delete_order", arguments: { order: "7" } };

function directory(): { readonly dataDir: string; readonly shared: true } {
  return { dataDir: join(makeDirectory(), "data"), shared: true };
}

async function errorOf(action: Promise<unknown>): Promise<CallgateError> {
  const error = await action.catch((thrown: unknown) => thrown);
  if (error instanceof CallgateError) return error;
  throw new Error(`no CallgateError: ${String(error)}`);
}

test("both get the same decision of one call, with the same key", async () => {
  const options = directory();
  const [first, second] = [await openGate(options), await openGate(options)];
  const asked = await second.propose(PAY);
  expect(asked).toMatchObject({ outcome: "allowed", repeated: false });
  expect(asked.idempotencyKey).toMatch(/^[\w-]{43}$/);
  expect(await first.propose(PAY)).toEqual({ ...asked, repeated: true });
  await first.report(asked.decisionId ?? "", { status: "succeeded", output: "paid" });
  expect((await second.awaitResult(asked.decisionId ?? "")).output).toBe("paid");
  const other = await second.propose({ ...PAY, callId: "call-9" });
  expect(other.refusal?.reason).toBe("duplicate_call");
});

test("gates that are opened at the same moment share one directory", async () => {
  const options = directory();
  const gates = await Promise.all(Array.from({ length: 4 }, () => openGate(options)));
  const decisions = await Promise.all(gates.map((gate) => gate.propose(PAY)));
  expect(decisions.map(({ outcome }) => outcome)).toEqual(Array(4).fill("allowed"));
  expect(new Set(decisions.map(({ decisionId }) => decisionId)).size).toBe(1);
  expect(decisions.filter(({ repeated }) => !repeated)).toHaveLength(1);
});

test("an approval in one decides the call of the other", async () => {
  const options = directory();
  const [first, second] = [await openGate(options), await openGate(options)];
  const held = await second.propose(REMOVAL);
  const waiting = second.awaitDecision(held.decisionId ?? "");
  expect((await first.pending()).map(({ approvalId }) => approvalId)).toEqual([held.approvalId]);
  await first.approve(held.approvalId ?? "", { by: "ann" });
  expect((await waiting).outcome).toBe("allowed");
  expect(await second.pending()).toEqual([]);
});

test("a guarded write that both make under one call id runs once", async () => {
  const options = directory();
  const gates = [await openGate(options), await openGate(options)];
  let runs = 0;
  const answers = await Promise.all(
    gates.map((gate) => {
      const run = async (_: { order: string }) => {
        runs += 1;
        await new Promise((resolve) => setTimeout(resolve, 200));
        return "paid";
      };
      return gate.guard({ charge_card: run }, CONTEXT).charge_card({ order: "7" }, { callId: "a" });
    }),
  );
  expect(runs).toBe(1);
  expect(answers.filter((answer) => answer === "paid")).toHaveLength(1);
  const [other] = answers.filter((answer) => isRefused(answer));
  expect(isRefused(other) && other.reason).toBe("outcome_unknown");
  // Neither takes the other for gone while it runs: the result stands.
  const again = gates.map((gate) =>
    gate
      .guard({ charge_card: (_: { order: string }) => "again" }, CONTEXT)
      .charge_card({ order: "7" }, { callId: "a" }),
  );
  expect(await Promise.all(again)).toEqual(["paid", "paid"]);
});

test("when the one that decides is closed, another goes on with the same state", async () => {
  const options = directory();
  const [first, second] = [await openGate(options), await openGate(options)];
  const paid = await first.propose(PAY);
  const held = await second.propose(REMOVAL);
  await first.close();
  expect(await second.propose(PAY)).toEqual({ ...paid, repeated: true });
  expect((await second.deny(held.approvalId ?? "", { by: "ann" })).outcome).toBe("refused");
  const third = await openGate(options);
  expect(await third.propose(PAY)).toEqual({ ...paid, repeated: true });
  await second.close();
  expect(await third.propose(PAY)).toEqual({ ...paid, repeated: true });
});

test("a tool that only a later one has declared is known once that one decides", async () => {
  const options = directory();
  const [first, second] = [await openGate(options), await openGate(options)];
  const tools = second.guard({ send_mail: (_: { to: string }) => "sent" }, CONTEXT);
  const early = await tools.send_mail({ to: "ann" });
  expect(isRefused(early) && early.reason).toBe("unknown_tool");
  await first.close();
  expect(await tools.send_mail({ to: "bob" })).toBe("sent");
  expect(() => second.guard({ Charge_card: () => "paid" }, CONTEXT)).toThrow("declares it as");
});

test("a policy that the one that decides loads again decides the calls of the other", async () => {
  const policy = join(makeDirectory(), "policy.yaml");
  const open = "tool_schemas:\n  charge_card: {}\n";
  writeFileSync(policy, open);
  const options = { ...directory(), policy };
  const [first, second] = [await openGate(options), await openGate(options)];
  expect((await second.propose(PAY)).outcome).toBe("allowed");
  writeFileSync(policy, "tool_schemas:\n  other: {}\n");
  expect((await errorOf(second.reloadPolicy())).message).toContain("in another process");
  expect((await first.reloadPolicy()).outcome).toBe("loaded");
  const refused = await second.propose({ ...PAY, callId: "call-3" });
  expect(refused.refusal?.reason).toBe("unknown_tool");
  expect(second.policyRevision).toBe(first.policyRevision);
  // One that opens now has the new policy, and finds it in force.
  const third = await openGate(options);
  expect((await third.propose({ ...PAY, callId: "call-4" })).outcome).toBe("refused");
});

test("nobody decides by a broken policy, and calls are refused until it is corrected", async () => {
  const policy = join(makeDirectory(), "policy.yaml");
  const valid = "tool_schemas:\n  charge_card: {}\n";
  writeFileSync(policy, valid);
  const options = { ...directory(), policy, timeoutMs: 1_000 };
  const [first, second] = [await openGate(options), await openGate(options)];
  writeFileSync(policy, "tool_schemas:\n  charge_card: { colour: red }\n");
  await first.close();
  await vi.waitFor(
    async () => {
      const { refusal } = await second.propose({ ...PAY, callId: "call-5" });
      expect(refusal).toMatchObject({ reason: "gate_unavailable", detail: "not_owner" });
      expect(refusal?.problem).toContain(`${policy}:2:18: tool_schemas.charge_card.colour`);
    },
    { timeout: 20_000 },
  );
  writeFileSync(policy, valid);
  await vi.waitFor(
    async () =>
      expect((await second.propose({ ...PAY, callId: "call-5" })).outcome).toBe("allowed"),
    { timeout: 20_000 },
  );
});

test("a gate that decides by another policy, or alone, is not joined", async () => {
  const options = directory();
  const first = await openGate(options);
  const other: Partial<OpenOptions> = { ...options, policy: { tool_schemas: { get_order: {} } } };
  const keys = { ...options, proposalKeys: { keys: [] as object[] } };
  const errors = await Promise.all([errorOf(openGate(other)), errorOf(openGate({ ...keys }))]);
  expect(errors[0]?.code).toBe("data_dir_in_use");
  expect(errors[0]?.message).toContain(`process ${process.pid}, which decides by another policy`);
  const alone = await errorOf(openGate({ ...options, shared: false }));
  expect(alone).toMatchObject({ code: "data_dir_in_use", pid: process.pid });
  expect(alone.message).toContain("open it with `shared: true` in both");
  await first.close();
  await openGate({ ...options, shared: false });
  const late = await errorOf(openGate(options));
  expect(late.code).toBe("data_dir_in_use");
  expect(late.message).toContain("did not open it with `shared: true`");
});

test("proposals of every process need a token where one does, and sensitive arguments stay readable", async () => {
  const keys = await makeKeys("a");
  const policy = { tool_schemas: { pay: { sensitive: ["card"] } } };
  const options = { ...directory(), policy, proposalKeys: { keys: [keys.verifying] } };
  await openGate(options);
  const pay = { conversationId: "c", tool: "pay", arguments: { card: "4111" } };
  const without = await openGate(options);
  expect((await without.propose(pay)).refusal?.reason).toBe("unauthenticated");
  const signed = await openGate({ ...options, token: () => sign(keys.signing, CLAIMS) });
  expect(await signed.propose(pay)).toMatchObject({
    outcome: "allowed",
    arguments: { card: "4111" },
  });
});

test("options that make no sense are refused, and a broken policy leaves nothing behind", async () => {
  const nowhere = await errorOf(openGate({ shared: true, dataDir: false }));
  expect(nowhere.message).toContain("`shared` needs a `dataDir`");
  const wrong = await errorOf(openGate({ shared: "yes" as never }));
  expect(wrong.message).toContain("`shared` must be true or false");
  const options = directory();
  const broken = await errorOf(openGate({ ...options, policy: { tool_schemas: 7 } }));
  expect(broken.code).toBe("policy_invalid");
  const gate = await openGate({ ...options, policy: SHOP_POLICY });
  expect((await gate.propose(PAY)).outcome).toBe("allowed");
});
