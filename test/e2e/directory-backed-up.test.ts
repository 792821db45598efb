// The backup of docs/recovery.md: made while a gate decides, restored and continued elsewhere.
import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCallgate } from "../../services/library/callgate.ts";
import { makeDirectory, openGate, SHOP_POLICY } from "../support/open-gate.ts";
import { runSteps, stepsOf } from "../support/page-steps.ts";
import { runCallgate } from "../support/run-callgate.ts";

const callOf = (order: number) => ({
  conversationId: "c1",
  turn: 1,
  callId: `call-${order}`,
  tool: "charge_card",
  arguments: { order: String(order) },
});

test("a backup made while a gate decides continues elsewhere without duplicates", async () => {
  const directory = makeDirectory();
  const dataDir = join(directory, "data");
  const gate = await openGate({ dataDir });
  const before = [];
  for (let order = 0; order < 5; order += 1) before.push(await gate.propose(callOf(order)));
  const failed = before[0]?.decisionId ?? "";
  await gate.report(failed, { status: "unknown" });

  let isCopied = false;
  const target = join(directory, "copy");
  const copied = runCallgate(["backup", target, "--data-dir", dataDir]).then((run) => {
    isCopied = true;
    return run;
  });
  for (let order = 100; !isCopied; order += 1) await gate.propose(callOf(order));
  expect(await copied).toMatchObject({ code: 0, stderr: "" });
  expect(await runCallgate(["verify", "--data-dir", target])).toMatchObject({ code: 0 });
  await gate.close();

  const restored = join(directory, "restored");
  cpSync(target, restored, { recursive: true });
  const again = await openCallgate({ policy: SHOP_POLICY, dataDir: restored });
  for (const decision of before) {
    const { callId, idempotencyKey } = decision;
    const call = callOf(Number((callId ?? "").replace("call-", "")));
    expect(await again.propose(call)).toMatchObject({ repeated: true, idempotencyKey });
    const doubled = await again.propose({ ...call, callId: `again-${callId}` });
    expect(doubled.outcome).toBe("refused");
  }
  await again.close();
  expect(await runCallgate(["verify", "--data-dir", restored])).toMatchObject({ code: 0 });
});

test("the steps of the page restore a directory in its place", async () => {
  const directory = makeDirectory();
  const dataDir = join(directory, ".callgate");
  const gate = await openGate({ dataDir });
  const paid = await gate.propose(callOf(7));
  const [backUp, restore] = stepsOf("recovery.md", "### An embedded gate");
  await runSteps(backUp, directory);
  const later = await gate.propose(callOf(8));
  await gate.close();
  await runSteps(restore, directory);
  const again = await openGate({ dataDir });
  expect(await again.propose(callOf(7))).toEqual({ ...paid, repeated: true });
  const { idempotencyKey } = later;
  expect(await again.propose(callOf(8))).toMatchObject({ repeated: false, idempotencyKey });
});

test("a backup of a stopped gate is a copy of its files", async () => {
  const directory = makeDirectory();
  const dataDir = join(directory, "data");
  const gate = await openGate({ dataDir });
  const paid = await gate.propose(callOf(7));
  await gate.close();
  for (const file of ["head.json", "secret", "log.mdb"]) {
    cpSync(join(dataDir, file), join(directory, "copy", file));
  }
  const again = await openGate({ dataDir: join(directory, "copy") });
  expect(await again.propose(callOf(7))).toEqual({ ...paid, repeated: true });
});

test("a backup needs a data directory, and overwrites nothing", async () => {
  const directory = makeDirectory();
  const dataDir = join(directory, "data");
  await (await openGate({ dataDir })).close();
  const nothing = await runCallgate([
    "backup",
    join(directory, "a"),
    "-d",
    join(directory, "none"),
  ]);
  expect(nothing.code).toBe(3);
  expect(nothing.stderr).toContain("holds no data of a gate");
  const over = await runCallgate(["backup", dataDir, "-d", dataDir]);
  expect(over).toMatchObject({ code: 2 });
  expect(over.stderr).toContain("is not empty");
});
