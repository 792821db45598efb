// Guarded handlers over turns and restarts: how often something is done, and under how many keys.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { HandlerCall } from "../../../services/library/callgate.ts";
import { isRefused, noEffect, openCallgate } from "../../../services/library/callgate.ts";

const POLICY = {
  checks: { failure_streak: "off" },
  tool_schemas: {
    charge_card: {
      effects: [{ resource: "order/{order_id}/payment", kind: "charge" }],
      suggest: ["get_order"],
    },
    pay_invoice: { effects: [{ resource: "order/{order_id}/payment", kind: "charge" }] },
    get_order: { read_only: true },
  },
};

const ARGS = { order_id: "7" };

/** How a handler ends after it has charged. */
const ends = fc.constantFrom<() => unknown>(
  () => {
    throw new Error("cannot parse response");
  },
  () => {
    throw "timeout";
  },
  () => {
    throw Object.assign(new Error("upstream"), { status: 503 });
  },
  () => ({ isError: true, content: [{ type: "text", text: "no answer" }] }),
  () => ({ status: "error", content: "no answer" }),
  () => ({ success: false }),
  () => '{"ok":false}',
  () => "An error occurred while running the tool. Please try again. Error: no answer",
);

test("a possible effect has one key over turns and restarts, and no alternative is tried", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ end: ends, restart: fc.boolean() }), { minLength: 2, maxLength: 5 }),
      async (tries) => {
        const dataDir = await mkdtemp(join(tmpdir(), "callgate-outcomes-"));
        const keys = new Set<string>();
        const others: unknown[] = [];
        let turn = 0;
        let gate = await openCallgate({ policy: POLICY, dataDir });
        try {
          for (const { end, restart } of tries) {
            turn += 1;
            const tools = gate.guard(
              {
                charge_card: (_args: typeof ARGS, { idempotencyKey }: HandlerCall) => {
                  keys.add(idempotencyKey);
                  return end();
                },
                pay_invoice: () => "paid",
              },
              { conversationId: "c", turn: `t${turn}` },
            );
            const answer = await tools.charge_card(ARGS).catch((error: unknown) => error);
            expect(isRefused(answer)).toBe(false);
            others.push(await tools.pay_invoice(ARGS));
            if (!restart) continue;
            await gate.close();
            gate = await openCallgate({ policy: POLICY, dataDir });
          }
        } finally {
          await gate.close();
          await rm(dataDir, { recursive: true, force: true });
        }
        expect(keys.size).toBe(1);
        for (const other of others) {
          expect(other).toMatchObject({ refusal: { reason: "side_effect_conflict" } });
        }
      },
    ),
    { numRuns: 8 },
  );
});

test("a certain failure frees its effect, and has a new key the next time", async () => {
  const gate = await openCallgate({ policy: POLICY, dataDir: false });
  const keys = new Set<string>();
  let decisionId = "";
  const tools = gate.guard(
    {
      charge_card: (_args: typeof ARGS, call: HandlerCall) => {
        keys.add(call.idempotencyKey);
        decisionId = call.decisionId;
        throw noEffect(new Error("card declined"));
      },
      pay_invoice: () => "paid",
    },
    { conversationId: "c", turn: "t1" },
  );
  await expect(tools.charge_card(ARGS)).rejects.toThrow("card declined");
  await expect(tools.charge_card(ARGS)).rejects.toThrow("card declined");
  expect(keys.size).toBe(2);
  expect(await gate.awaitResult(decisionId)).toMatchObject({ status: "failed", effect: "none" });
  expect(await tools.pay_invoice(ARGS)).toBe("paid");
  await gate.close();
});

test("a report of the outcome ends the uncertainty", async () => {
  const gate = await openCallgate({ policy: POLICY, dataDir: false });
  const call = {
    conversationId: "c",
    turn: "t1",
    callId: "1",
    tool: "charge_card",
    arguments: ARGS,
  };
  const { decisionId = "" } = await gate.propose(call);
  await gate.report(decisionId, { status: "failed", error: { message: "no answer" } });
  expect(await gate.awaitResult(decisionId)).toMatchObject({ effect: "possible" });
  const other = { ...call, callId: "2", tool: "pay_invoice" };
  const { refusal } = await gate.propose(other);
  expect(refusal?.message).toMatch(/failed and may have taken effect.*reconcile/s);
  expect(await gate.report(decisionId, { status: "failed", effect: "none" })).toMatchObject({
    recorded: true,
  });
  expect(await gate.propose({ ...other, callId: "3" })).toMatchObject({ outcome: "allowed" });
  await gate.close();
});
