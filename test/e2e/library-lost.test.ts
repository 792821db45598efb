// A gate that loses what it needs refuses, says why, and loses no decision.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { systemClock } from "../../services/adapters/system/clock.ts";
import { type CallgateError, isRefused } from "../../services/library/callgate.ts";
import { openDiskLog } from "../../services/process/directory/open-storage.ts";
import { ensureBuilt } from "../../tasks/ensure-built.js";
import { makeDirectory, openGate } from "../support/open-gate.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const PAY = { conversationId: "c1", tool: "charge_card", arguments: { order: "7" } };

beforeAll(() => ensureBuilt());

test("a gate whose partition somebody else has taken over refuses from then on", async () => {
  const dataDir = join(makeDirectory(), "data");
  const lost: CallgateError[] = [];
  const gate = await openGate({ dataDir, onLost: (error) => lost.push(error) });
  let runs = 0;
  const tools = gate.guard({ charge_card: (_: { order: string }) => ++runs }, PAY);
  const held = await gate.propose({ ...PAY, tool: "delete_order" });
  const open = await gate.propose({ ...PAY, callId: "open", arguments: { order: "8" } });
  const waiting = gate.awaitDecision(held.decisionId ?? "").catch((error: unknown) => error);
  const other = openDiskLog(dataDir, systemClock);
  other.fence(0);
  await other.close();

  // Includes calls in progress at that moment, and all later ones.
  for (let asked = 0; asked < 3; asked += 1) {
    const refused = await gate.propose({ ...PAY, callId: `call-${asked}` });
    expect(refused).not.toHaveProperty("decisionId");
    expect(refused.refusal).toMatchObject({ reason: "gate_unavailable", detail: "not_owner" });
    const answer = await tools.charge_card({ order: "7" });
    expect(isRefused(answer) && answer.detail).toBe("not_owner");
  }
  expect(runs).toBe(0);
  expect(lost).toMatchObject([{ code: "closed" }]);
  expect(await waiting).toMatchObject({ code: "closed" });
  // Later requests do not wait, and still get what is in the journal.
  const closed = { code: "closed" };
  await expect(gate.awaitDecision(held.decisionId ?? "")).rejects.toMatchObject(closed);
  await expect(gate.awaitResult(open.decisionId ?? "")).rejects.toMatchObject(closed);
  expect((await gate.awaitDecision(open.decisionId ?? "")).outcome).toBe("allowed");
});

// `ulimit` is a shell builtin; its file size limit simulates a full disk.
test("a gate with a full disk refuses, and keeps earlier decisions", () => {
  const dataDir = join(makeDirectory(), "data");
  const program = join(REPOSITORY, "test/support/propose-until-full.js");
  const run = (limit: string) => {
    const command = `${limit} exec "$0" "$1" "$2"`;
    const args = ["-c", command, process.execPath, program, dataDir];
    const { stdout, status } = spawnSync("bash", args, { cwd: REPOSITORY, encoding: "utf8" });
    expect(status).toBe(0);
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  };
  const answers = run("ulimit -f 1500;");
  const last = answers.at(-1);
  expect(last.refusal).toMatchObject({ reason: "gate_unavailable" });
  expect(last.refusal.problem).toMatch(/did not answer|failed|no space/);
  const before = answers.slice(0, -1).map(({ decisionId }) => decisionId);
  expect(before.length).toBeGreaterThan(5);

  const after = run("");
  expect(after.slice(0, before.length).map(({ decisionId }) => decisionId)).toEqual(before);
  expect(after.length).toBeGreaterThan(answers.length);
});
