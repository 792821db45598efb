// A process that uses the library is killed at any moment and started again: every call is decided
// once, and stays decided.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { type Decision, openCallgate } from "../../services/library/callgate.ts";
import { openLog } from "../../services/process/directory/open-log.ts";
import { coreFold } from "../../services/runtime/core-engine.ts";
import type { JournalRecord } from "../../services/runtime/journal.ts";
import { verifyJournal } from "../../services/runtime/verify.ts";
import { ensureBuilt } from "../../tasks/ensure-built.js";
import { numberedCall, PAY_POLICY } from "../support/numbered-calls.js";
import { makeDirectory } from "../support/open-gate.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAM = join(REPOSITORY, "test/support/propose-until-killed.js");
const CALLS = 400;
/** Answers after which each life ends; the last one lives until it is done. */
const LIVES = [1, 40, 130, 131, 260, Number.POSITIVE_INFINITY];

type Answer = { readonly number: number; readonly decision: Decision };

/**
 * Runs the program until it has printed that many answers, then kills it in the middle of its work.
 */
async function live(dataDir: string, answersMax: number): Promise<readonly Answer[]> {
  const child = spawn(process.execPath, [PROGRAM, dataDir, String(CALLS)], {
    cwd: REPOSITORY,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const answers: Answer[] = [];
  let done = false;
  for await (const line of createInterface({ input: child.stdout })) {
    const printed = JSON.parse(line) as Answer | { readonly done: true };
    if ("done" in printed) done = true;
    else answers.push(printed);
    if (answers.length >= answersMax) child.kill("SIGKILL");
  }
  await ended;
  expect(done).toBe(answersMax === Number.POSITIVE_INFINITY);
  return answers;
}

/** What must never change. */
function lasting({ outcome, decisionId, idempotencyKey, refusal }: Decision) {
  return { outcome, decisionId, idempotencyKey, reason: refusal?.reason };
}

/** Runs until all calls are answered; answers of several lives to one call must be equal. */
async function liveAndDie(dataDir: string): Promise<ReadonlyMap<number, unknown>> {
  const seen = new Map<number, unknown>();
  for (const answersMax of LIVES) {
    for (const { number, decision } of await live(dataDir, answersMax)) {
      const answer = lasting(decision);
      expect(answer, `call ${number}`).toEqual(seen.get(number) ?? answer);
      seen.set(number, answer);
    }
  }
  return seen;
}

async function readJournal(dataDir: string) {
  const { log, codec, close } = openLog(dataDir);
  const limits = { recordsMax: 1_000_000, bytesMax: 1_000_000_000 };
  const { records } = await log.read("decisions", 0, 0, limits);
  const entries = records.map(({ value }) => codec.decodeJournal(value ?? new Uint8Array()));
  const proposals = await log.endOffset("proposals", 0);
  const verified = await verifyJournal({ log, codec, fold: coreFold, journalSpanMs: 0 }, 0);
  await close();
  return { entries, proposals, verified };
}

function offsetOfProposal(record: JournalRecord): readonly number[] {
  const { input } = record;
  return input.type === "decided" && input.at.topic === "proposals" ? [input.at.offset] : [];
}

function decisionIds(record: JournalRecord): readonly string[] {
  return record.events.flatMap((event) =>
    event.type === "allowed" || event.type === "refused" || event.type === "held"
      ? [event.decisionId]
      : [],
  );
}

beforeAll(() => ensureBuilt());

test("every call is decided once, whenever the process is killed", async () => {
  const dataDir = join(makeDirectory(), "data");
  const seen = await liveAndDie(dataDir);
  expect(seen.size).toBe(CALLS);
  for (const outcome of ["allowed", "refused", "held"]) {
    expect([...seen.values()]).toContainEqual(expect.objectContaining({ outcome }));
  }

  const gate = await openCallgate({ policy: PAY_POLICY, dataDir });
  for (const [number, before] of seen) {
    const again = await gate.propose(numberedCall(number));
    expect(lasting(again), `call ${number}`).toEqual(before);
    expect(again.repeated).toBe(true);
  }
  await gate.close();

  const { entries, proposals, verified } = await readJournal(dataDir);
  expect(verified).toMatchObject({ problems: [], records: entries.length });
  const offsets = entries.flatMap(offsetOfProposal);
  expect(offsets).toEqual(Array.from({ length: proposals }, (_, offset) => offset));
  const decided = entries.flatMap(decisionIds);
  expect(decided).toHaveLength(CALLS);
  expect(new Set(decided).size).toBe(CALLS);
});
