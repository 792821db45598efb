// Whatever happens to the files of a data directory: it is refused, or it has lost nothing.
import { cpSync, existsSync, mkdtempSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { CallgateError, openCallgate } from "../../../services/library/callgate.ts";
import {
  acceptDirectoryLosses,
  findDirectoryLosses,
} from "../../../services/process/directory/recover-directory.ts";
import { SHOP_POLICY } from "../../support/open-gate.ts";

const FILES = ["log.mdb", "secret", "head.json"] as const;
type File = (typeof FILES)[number];

const REFUSALS = ["data_dir_unusable", "secret_unreadable"];

type Damage = {
  readonly file: File;
  readonly how: "delete" | "empty" | "truncate" | "roll_back" | "swap";
};

/** The number of calls in each life; a life begins with an open and ends with a close. */
type Plan = { readonly lives: readonly number[]; readonly damages: readonly Damage[] };

const damage: fc.Arbitrary<Damage> = fc.record({
  file: fc.constantFrom(...FILES),
  how: fc.constantFrom("delete", "empty", "truncate", "roll_back", "swap"),
});

/** Files that were rolled back together are a restored backup, which nothing can detect. */
function isRestore(damages: readonly Damage[]): boolean {
  const rolledBack = damages.filter(({ how }) => how === "roll_back").map(({ file }) => file);
  return rolledBack.includes("log.mdb") && rolledBack.includes("head.json");
}

const plan: fc.Arbitrary<Plan> = fc.record({
  lives: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 2, maxLength: 3 }),
  damages: fc
    .uniqueArray(damage, { minLength: 1, maxLength: 2, selector: ({ file }) => file })
    .filter((damages) => !isRestore(damages)),
});

const root = mkdtempSync(join(tmpdir(), "callgate-parts-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

type Key = string | undefined;

function callOf(conversationId: string, index: number) {
  const args = { order: String(index) };
  return { conversationId, turn: 1, callId: `call-${index}`, tool: "charge_card", arguments: args };
}

/** Decides calls from `from` on; returns their keys. */
async function live(
  dataDir: string,
  from: number,
  count: number,
): Promise<readonly { readonly key: Key; readonly repeated: boolean }[]> {
  const gate = await openCallgate({ policy: SHOP_POLICY, dataDir });
  try {
    const keys = [];
    for (let index = from; index < from + count; index += 1) {
      const decision = await gate.propose(callOf("c", index));
      keys.push({ key: decision.idempotencyKey, repeated: decision.repeated });
    }
    return keys;
  } finally {
    await gate.close();
  }
}

function copyFiles(from: string, to: string, files: readonly string[] = FILES): void {
  for (const file of files) {
    if (existsSync(join(from, file))) cpSync(join(from, file), join(to, file));
  }
}

let runs = 0;

/** A directory after some lives, a copy of it after the first of them, and another directory. */
async function grow(lives: readonly number[]) {
  runs += 1;
  const at = (name: string): string => join(root, String(runs), name);
  const keys: Key[] = [];
  for (const [life, count] of lives.entries()) {
    const decided = await live(at("ours"), keys.length, count);
    keys.push(...decided.map(({ key }) => key));
    if (life === 0) cpSync(at("ours"), at("earlier"), { recursive: true });
  }
  await live(at("other"), 0, 1);
  return { ours: at("ours"), earlier: at("earlier"), other: at("other"), keys };
}

function inflict({ file, how }: Damage, ours: string, earlier: string, other: string): void {
  const path = join(ours, file);
  // The files that a crashed machine leaves are older than that.
  for (const name of ["log.mdb-lock", "gate.heartbeat"]) rmSync(join(ours, name), { force: true });
  if (how === "delete") rmSync(path);
  else if (how === "empty") truncateSync(path, 0);
  else if (how === "truncate") truncateSync(path, 10);
  else copyFiles(how === "swap" ? other : earlier, ours, [file]);
}

async function refusalOf(dataDir: string): Promise<CallgateError | null> {
  try {
    await (await openCallgate({ policy: SHOP_POLICY, dataDir })).close();
    return null;
  } catch (error) {
    if (error instanceof CallgateError) return error;
    throw error;
  }
}

describe("a data directory that was deleted, emptied, cut, rolled back or swapped in part", () => {
  test("is refused with a remedy, or has lost nothing: every call keeps its decision and its key", async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(plan, async ({ lives, damages }) => {
        const { ours, earlier, other, keys } = await grow(lives);
        for (const one of damages) inflict(one, ours, earlier, other);
        const refusal = await refusalOf(ours);
        if (refusal !== null) {
          refused += 1;
          expect(REFUSALS).toContain(refusal.code);
          expect(refusal.message).toMatch(/[Rr]estore .*backup|from a backup/);
          return;
        }
        const again = await live(ours, 0, keys.length);
        expect(again).toEqual(keys.map((key) => ({ key, repeated: true })));
      }),
      { numRuns: 60 },
    );
    expect(refused).toBeGreaterThan(20);
  });

  test("opens again once the loss is accepted, and its journal is complete from then on", async () => {
    await fc.assert(
      fc.asyncProperty(plan, async ({ lives, damages }) => {
        const { ours, earlier, other } = await grow(lives);
        for (const one of damages) inflict(one, ours, earlier, other);
        const directoryLosses = await findDirectoryLosses(ours);
        const refusal = await refusalOf(ours);
        // A directory that opens has lost nothing, and one that lost something does not open.
        expect(directoryLosses.losses.length === 0).toBe(refusal === null);
        if (refusal === null) return;
        await acceptDirectoryLosses(ours, directoryLosses, { by: "ann", reason: null });
        expect(await findDirectoryLosses(ours)).toMatchObject({ losses: [] });
        const decided = await live(ours, 100, 1);
        expect(await live(ours, 100, 1)).toEqual(
          decided.map((one) => ({ ...one, repeated: true })),
        );
      }),
      { numRuns: 40 },
    );
  });
});
