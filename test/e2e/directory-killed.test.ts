// A process is killed at any moment, including its first: a directory that lost nothing is never
// refused.
import { spawn } from "node:child_process";
import { cpSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { type CallgateError, openCallgate } from "../../services/library/callgate.ts";
import { findDirectoryLosses } from "../../services/process/directory/recover-directory.ts";
import { ensureBuilt } from "../../tasks/ensure-built.js";
import { PAY_POLICY } from "../support/numbered-calls.js";
import { makeDirectory } from "../support/open-gate.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAM = join(REPOSITORY, "test/support/propose-until-killed.js");
/** Each kills it later by an equal part of the span; the first decision is long made at its end. */
const ROUNDS = Number(process.env["CALLGATE_ROUNDS"] ?? 12);
const SPAN_MS = 288;

type Killed = { readonly answers: number; readonly complaint: string };

/**
 * Kills the process some time after its directory exists and it has answered a number of calls:
 * while it creates the directory, or decides.
 */
async function live(dataDir: string, afterAnswers: number, afterMs: number): Promise<Killed> {
  const child = spawn(process.execPath, [PROGRAM, dataDir, "100000"], {
    cwd: REPOSITORY,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  let answers = 0;
  let complaint = "";
  child.stdout.on("data", (chunk: Buffer) => {
    answers += String(chunk).split("\n").length - 1;
  });
  child.stderr.on("data", (chunk: Buffer) => {
    complaint += String(chunk);
  });
  const isThere = (): boolean => existsSync(dataDir) && answers >= afterAnswers;
  while (!isThere() && child.exitCode === null) await sleep(1);
  await sleep(afterMs);
  child.kill("SIGKILL");
  await ended;
  return { answers, complaint };
}

async function opens(dataDir: string): Promise<string> {
  const directoryLosses = await findDirectoryLosses(dataDir);
  if (directoryLosses.losses.length > 0) return directoryLosses.losses.join();
  const opened = await openCallgate({ policy: PAY_POLICY, dataDir }).catch((e: CallgateError) => e);
  if (opened instanceof Error) return opened.message;
  await opened.close();
  return "";
}

beforeAll(() => ensureBuilt());

test("a new directory opens, at whatever moment its first process was killed", async () => {
  const root = makeDirectory();
  let decided = 0;
  let undecided = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const dataDir = join(root, String(round));
    const { answers, complaint } = await live(
      dataDir,
      round % 4 === 3 ? 1 : 0,
      (round * SPAN_MS) / ROUNDS,
    );
    expect(complaint, `round ${round}`).toBe("");
    if (answers > 0) decided += 1;
    else undecided += 1;
    expect(await opens(dataDir), `round ${round}`).toBe("");
  }
  // Some were killed before they decided anything, some after.
  expect(decided).toBeGreaterThan(0);
  expect(undecided).toBeGreaterThan(0);
});

test("a directory opens after each of many kills, and reports a log that was rolled back in between", async () => {
  const dataDir = join(makeDirectory(), "data");
  const earlier = `${dataDir}-earlier`;
  for (let round = 0; round < 6; round += 1) {
    const { complaint } = await live(dataDir, 20, 97 * round);
    expect(complaint, `round ${round}`).toBe("");
    if (round === 0) {
      expect(await opens(dataDir)).toBe("");
      cpSync(dataDir, earlier, { recursive: true });
    }
  }
  // A process that runs for longer than a second leaves a head behind, however it ends.
  await live(dataDir, 200, 2_000);
  rmSync(join(dataDir, "log.mdb-lock"), { force: true });
  cpSync(join(earlier, "log.mdb"), join(dataDir, "log.mdb"));
  expect(await opens(dataDir)).toContain("had come to");
});
