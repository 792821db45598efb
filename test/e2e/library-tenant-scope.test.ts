// Effects that happen once in all conversations of a tenant (`scope: tenant`), on a data directory.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import type { Callgate, Decision } from "../../services/library/callgate.ts";
import { openLog } from "../../services/process/directory/open-log.ts";
import { coreFold } from "../../services/runtime/core-engine.ts";
import { verifyJournal } from "../../services/runtime/verify.ts";
import { ensureBuilt } from "../../tasks/ensure-built.js";
import { numberedCall } from "../support/numbered-calls.js";
import { makeDirectory, openGate } from "../support/open-gate.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAM = join(REPOSITORY, "test/support/propose-until-killed.js");
const CALLS = 200;

beforeAll(() => ensureBuilt());

const DAY_MS = 86_400_000;

const POLICY = {
  authorization: { tiers: [{ name: "asked", pattern: "wire_*", action: "hitl" }] },
  tool_schemas: {
    charge_card: {
      effects: [{ resource: "order/{order}/payment", kind: "charge", scope: "tenant" }],
    },
    wire_money: {
      effects: [{ resource: "order/{order}/payment", kind: "charge", scope: "tenant" }],
    },
  },
} as const;

let calls = 0;

function charge(
  gate: Callgate,
  conversationId: string,
  order: string,
  tool = "charge_card",
): Promise<Decision> {
  calls += 1;
  return gate.propose({ conversationId, turn: 1, callId: `k${calls}`, tool, arguments: { order } });
}

async function report(
  gate: Callgate,
  { decisionId = "" }: Decision,
  status: "succeeded" | "failed",
) {
  const effect = status === "failed" ? { effect: "none" as const } : {};
  await gate.report(decisionId, { status, ...effect });
}

async function verified(dataDir: string) {
  const { log, codec, close } = openLog(dataDir);
  const context = { log, codec, fold: coreFold, journalSpanMs: 40 * DAY_MS };
  const report = await verifyJournal(context, 0);
  await close();
  return report;
}

test("an effect of the tenant is refused in the second conversation, also after a restart", async () => {
  const dataDir = join(makeDirectory(), "data");
  const before = await openGate({ dataDir, policy: POLICY });
  const first = await charge(before, "alpha", "7");
  expect(first.outcome).toBe("allowed");
  const second = await charge(before, "beta", "7");
  expect(second.refusal?.reason).toBe("side_effect_conflict");
  expect(second.refusal?.message).toContain("charge_card");
  expect(second.refusal?.message).toContain("order/7/payment");
  expect(JSON.stringify(second)).not.toContain("alpha");
  expect(JSON.stringify(second)).not.toContain(first.decisionId);
  expect((await charge(before, "beta", "8")).outcome).toBe("allowed");
  await before.close();

  const gate = await openGate({ dataDir, policy: POLICY });
  expect((await charge(gate, "gamma", "7")).refusal?.reason).toBe("side_effect_conflict");
  await report(gate, first, "failed");
  const third = await charge(gate, "gamma", "7");
  expect(third.outcome).toBe("allowed");
  await report(gate, third, "succeeded");
  expect((await charge(gate, "alpha", "7")).refusal?.reason).toBe("side_effect_conflict");
  await gate.close();
  expect(await verified(dataDir)).toMatchObject({ problems: [], inputsProblem: null });
});

test("a held call holds its effect in all conversations until it is denied", async () => {
  const dataDir = join(makeDirectory(), "data");
  const gate = await openGate({ dataDir, policy: POLICY });
  const held = await charge(gate, "alpha", "9", "wire_money");
  expect(held.outcome).toBe("held");
  const other = await charge(gate, "beta", "9");
  expect(other.refusal?.reason).toBe("side_effect_conflict");
  await gate.deny(held.approvalId ?? "", { by: "ann" });
  expect((await charge(gate, "beta", "9")).outcome).toBe("allowed");
  await gate.close();
  expect((await verified(dataDir)).problems).toEqual([]);
});

/** Runs the program until it has printed that many answers, then kills it. */
async function live(dataDir: string, answersMax: number): Promise<readonly string[]> {
  const args = [PROGRAM, dataDir, String(CALLS), "alone", "tenant"];
  const child = spawn(process.execPath, args, {
    cwd: REPOSITORY,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (lines.length >= answersMax) child.kill("SIGKILL");
  }
  await ended;
  return lines;
}

test("each order is paid once in all conversations, although the process is killed", async () => {
  const dataDir = join(makeDirectory(), "data");
  const payments = new Map<string, Set<string>>();
  const reasons = new Set<string>();
  for (const answersMax of [3, 60, 130, Number.POSITIVE_INFINITY]) {
    for (const line of await live(dataDir, answersMax)) {
      const answer = JSON.parse(line) as { number?: number; decision?: Decision };
      if (answer.number === undefined || answer.decision === undefined) continue;
      const { tool, arguments: args } = numberedCall(answer.number);
      const { outcome, decisionId = "", refusal } = answer.decision;
      if (refusal !== undefined) reasons.add(refusal.reason);
      if (tool !== "pay" || outcome !== "allowed") continue;
      const { order } = args as { order: string };
      payments.set(order, (payments.get(order) ?? new Set()).add(decisionId));
    }
  }
  expect(payments.size).toBeGreaterThan(40);
  expect([...payments].filter(([, decisions]) => decisions.size > 1)).toEqual([]);
  expect(reasons).toContain("side_effect_conflict");
  expect(await verified(dataDir)).toMatchObject({ problems: [], inputsProblem: null });
});

test("a policy that no longer says `scope: tenant` still settles the claims of its calls", async () => {
  const dataDir = join(makeDirectory(), "data");
  const before = await openGate({ dataDir, policy: POLICY });
  const paid = await charge(before, "alpha", "7");
  await before.close();
  const plain = { tool_schemas: { charge_card: {}, wire_money: {} } };
  const between = await openGate({ dataDir, policy: plain });
  await report(between, paid, "failed");
  await between.close();
  const gate = await openGate({ dataDir, policy: POLICY });
  expect((await charge(gate, "beta", "7")).outcome).toBe("allowed");
});

test("claims count as no conversations, and nobody reads them as one", async () => {
  const gate = await openGate({ dataDir: false, policy: POLICY, limits: { conversations: 2 } });
  expect((await charge(gate, "alpha", "1")).outcome).toBe("allowed");
  expect((await charge(gate, "beta", "2")).outcome).toBe("allowed");
  expect((await charge(gate, "gamma", "3")).refusal?.reason).toBe("overloaded");
});
