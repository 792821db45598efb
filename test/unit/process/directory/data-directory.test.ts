import { rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openCallgate } from "../../../../services/library/callgate.ts";
import {
  acceptDirectoryLosses,
  findDirectoryLosses,
} from "../../../../services/process/directory/recover-directory.ts";
import { makeDirectory, openGate, SHOP_POLICY } from "../../../support/open-gate.ts";

const PAY = { conversationId: "c", turn: 1, callId: "call-1", tool: "charge_card" };
const SECRET = "a secret that the caller supplies";

type Opening = Parameters<typeof openGate>[0];

/** A directory in which so many calls were decided. */
async function directoryOf(calls: number, options: Opening = {}): Promise<string> {
  const dataDir = join(makeDirectory(), "data");
  const gate = await openGate({ ...options, dataDir });
  for (let order = 0; order < calls; order += 1) {
    const callId = `call-${order}`;
    await gate.propose({ ...PAY, callId, arguments: { order: String(order) } });
  }
  await gate.close();
  return dataDir;
}

function remove(dataDir: string, ...files: readonly string[]): string {
  for (const file of ["log.mdb-lock", "gate.heartbeat", ...files]) {
    rmSync(join(dataDir, file), { force: true });
  }
  return dataDir;
}

async function problemOf(dataDir: string, options: Opening = {}): Promise<string> {
  try {
    const gate = await openCallgate({ policy: SHOP_POLICY, ...options, dataDir });
    await gate.close();
    return "";
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code}: ${message}`;
  }
}

describe("a directory whose creation was interrupted", () => {
  test.each([
    ["before the secret", ["secret", "head.json"]],
    ["before the head", ["head.json"]],
    ["at no point", []],
  ])("opens where that was %s", async (_, files) => {
    const dataDir = remove(await directoryOf(0), ...files);
    expect(await findDirectoryLosses(dataDir)).toMatchObject({ losses: [] });
    expect(await problemOf(dataDir)).toBe("");
  });

  test("opens where the log has no bytes yet", async () => {
    const dataDir = remove(await directoryOf(0), "secret", "head.json");
    truncateSync(join(dataDir, "log.mdb"), 0);
    expect(await problemOf(dataDir)).toBe("");
  });

  test("opens beside a draft of the head", async () => {
    const dataDir = await directoryOf(1);
    writeFileSync(join(dataDir, "head.json.4711.tmp"), '{"format":1,"direct');
    expect(await problemOf(dataDir)).toBe("");
  });
});

describe("a directory that lacks a part", () => {
  test.each([
    [
      "log.mdb",
      /^data_dir_unusable: the log `.*log\.mdb` is missing, beside `secret` and `head\.json`/,
    ],
    ["secret", /^secret_unreadable: the secret `.*secret` is missing.*backup/],
    ["head.json", /^data_dir_unusable: `.*head\.json` is missing.*Restore a backup of all files/],
  ])("is refused without %s, and stays so", async (file, problem) => {
    const dataDir = remove(await directoryOf(1), file);
    expect(await problemOf(dataDir)).toMatch(problem);
    expect(await problemOf(dataDir)).toMatch(problem);
  });

  test("is refused where the log is empty", async () => {
    const dataDir = remove(await directoryOf(1));
    truncateSync(join(dataDir, "log.mdb"), 0);
    expect(await problemOf(dataDir)).toMatch(/^data_dir_unusable: the log .* is empty/);
  });

  test("names the command that accepts the loss, after which it opens", async () => {
    const dataDir = remove(await directoryOf(1), "log.mdb");
    expect(await problemOf(dataDir)).toContain(`callgate recover --data-dir ${dataDir}`);
    const directoryLosses = await findDirectoryLosses(dataDir);
    await acceptDirectoryLosses(dataDir, directoryLosses, { by: "ann", reason: "the disk died" });
    expect(await problemOf(dataDir)).toBe("");
  });
});

describe("a directory whose secret the caller supplies", () => {
  test("opens only with that secret, and makes no other", async () => {
    const dataDir = await directoryOf(1, { secret: SECRET });
    expect(await problemOf(dataDir, { secret: SECRET })).toBe("");
    expect(await findDirectoryLosses(dataDir)).toMatchObject({ losses: [] });
    expect(await problemOf(dataDir)).toMatch(/^secret_unreadable: .* is missing/);
    const other = "another secret that the caller supplies";
    expect(await problemOf(dataDir, { secret: other })).toMatch(
      /^secret_unreadable: .* option `secret`/,
    );
    expect(await problemOf(dataDir, { secret: SECRET })).toBe("");
  });

  test("accepts another secret before anything was decided", async () => {
    const dataDir = await directoryOf(0, { secret: SECRET });
    expect(await problemOf(dataDir, { secret: "another secret that the caller supplies" })).toBe(
      "",
    );
  });

  test("accepts another secret once the loss is accepted, and retries keep one key from then on", async () => {
    const dataDir = await directoryOf(0, { secret: SECRET });
    const call = { ...PAY, arguments: { order: "7" } };
    const before = await openGate({ dataDir, secret: SECRET });
    const { decisionId = "" } = await before.propose(call);
    await before.report(decisionId, { status: "not_executed" });
    await before.close();

    const other = "another secret that the caller supplies";
    const directoryLosses = await findDirectoryLosses(dataDir, other);
    expect(directoryLosses.lostKeyIds).toHaveLength(1);
    await acceptDirectoryLosses(dataDir, directoryLosses, { by: "ann", reason: null }, other);
    const gate = await openGate({ dataDir, secret: other });
    const second = await gate.propose({ ...call, callId: "call-2" });
    await gate.report(second.decisionId ?? "", { status: "not_executed" });
    const third = await gate.propose({ ...call, callId: "call-3" });
    expect(second.idempotencyKey).toBeDefined();
    expect(third.idempotencyKey).toBe(second.idempotencyKey);
  });
});

test("a gate in memory needs and writes no files", async () => {
  const gate = await openGate({ dataDir: false });
  const decision = await gate.propose({ ...PAY, arguments: { order: "1" } });
  expect(decision.outcome).toBe("allowed");
});
