// A process that uses the library is killed at any moment and started again: every call is decided
// once, and stays decided so.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { chainHash } from "../../services/core/hash.ts";
import { GENESIS_HASH } from "../../services/runtime/journal.ts";
import { type Decision, openCallgate } from "../../services/sdk/callgate.ts";
import { openEmbeddedClient } from "../../services/sdk/open-embedded.ts";
import { numberedCall, PAY_POLICY } from "../support/numbered-calls.ts";
import { makeDirectory } from "../support/open-gate.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAM = join(REPOSITORY, "test/support/propose-until-killed.ts");
const CALLS = 400;
/** Answers after which each life ends; the last one lives until it is done. */
const LIVES = [1, 40, 130, 131, 260, Number.POSITIVE_INFINITY];

type Answer = { readonly number: number; readonly decision: Decision };

/** Runs the program until it has printed so many answers, then kills it in the midst of its work. */
async function live(dataDir: string, answersMax: number): Promise<readonly Answer[]> {
  const child = spawn(process.execPath, ["--import", "tsx", PROGRAM, dataDir, String(CALLS)], {
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

async function readJournal(dataDir: string) {
  const { log, codec, close } = openEmbeddedClient(dataDir);
  const limits = { recordsMax: 1_000_000, bytesMax: 1_000_000_000 };
  const { records } = await log.read("decisions", 0, 0, limits);
  const proposals = await log.endOffset("proposals", 0);
  const entries = records.map(({ value }) => {
    const bytes = value ?? new Uint8Array();
    return { bytes, record: codec.decodeJournal(bytes) };
  });
  await close();
  return { entries, proposals };
}

test("every call is decided once, whenever the process is killed", async () => {
  const dataDir = join(makeDirectory(), "data");
  const seen = new Map<number, ReturnType<typeof lasting>>();
  for (const answersMax of LIVES) {
    for (const { number, decision } of await live(dataDir, answersMax)) {
      const before = seen.get(number);
      if (before !== undefined) expect(lasting(decision), `call ${number}`).toEqual(before);
      seen.set(number, lasting(decision));
    }
  }
  expect(seen.size).toBe(CALLS);
  const outcomes = new Set([...seen.values()].map(({ outcome }) => outcome));
  expect(outcomes).toEqual(new Set(["allowed", "refused", "held"]));

  const gate = await openCallgate({ policy: PAY_POLICY, dataDir });
  for (const [number, before] of seen) {
    const again = await gate.propose(numberedCall(number));
    expect(lasting(again), `call ${number}`).toEqual(before);
    expect(again.repeated).toBe(true);
  }
  await gate.close();

  const { entries, proposals } = await readJournal(dataDir);
  let head = GENESIS_HASH;
  const decided = new Map<string, number>();
  const offsets: number[] = [];
  for (const [index, { bytes, record }] of entries.entries()) {
    expect(record.seq).toBe(index + 1);
    expect(record.prevHash).toBe(head);
    head = chainHash(head, bytes);
    if (record.input.type === "decided" && record.input.at.topic === "proposals") {
      offsets.push(record.input.at.offset);
    }
    for (const event of record.events) {
      if (event.type !== "allowed" && event.type !== "refused" && event.type !== "held") continue;
      decided.set(event.decisionId, (decided.get(event.decisionId) ?? 0) + 1);
    }
  }
  expect(offsets).toEqual(Array.from({ length: proposals }, (_, offset) => offset));
  expect(decided.size).toBe(CALLS);
  expect([...decided.values()].every((times) => times === 1)).toBe(true);
});
