// A gate whose conversations are nearly all in its state store, whatever becomes of the store's file.
import { cpSync, existsSync, mkdtempSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LmdbStateStore, STATE_FILE } from "../../../services/adapters/lmdb/lmdb-state-store.ts";
import type { StreamTask } from "../../../services/runtime/task.ts";
import { RuntimeKit, until } from "../../support/runtime-kit.ts";

const CONVERSATIONS = 30;
const OPTIONS = { checkpointEvery: 1, hashEvery: 1 };

let kit: RuntimeKit;
let directory: string;
let store: LmdbStateStore;

beforeEach(() => {
  kit = new RuntimeKit();
  directory = mkdtempSync(join(tmpdir(), "callgate-states-"));
});
afterEach(async () => {
  await kit.close();
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

/** A gate with room for no conversation in memory. */
function start(where = directory): StreamTask {
  store = new LmdbStateStore(where);
  const states = { store, memoryBytes: () => 0 };
  return kit.start({ checkpoints: null, options: OPTIONS, context: { states } });
}

async function stop(task: StreamTask): Promise<void> {
  await task.close();
  await store.close();
}

/** One call in each conversation; returns how many of them were allowed. */
async function round(arguments_: string): Promise<number> {
  const before = (await kit.values("decisions")).length;
  const allowedBefore = (await kit.values("allowed")).length;
  for (let at = 0; at < CONVERSATIONS; at += 1) {
    await kit.propose({ conversationId: `c${at}`, arguments: arguments_ });
  }
  await kit.journaled(before + CONVERSATIONS);
  return (await kit.values("allowed")).length - allowedBefore;
}

function sources(): readonly unknown[] {
  const restored = kit.lines.filter(({ message }) => message === "a partition was restored");
  return restored.map(({ fields }) => fields["source"]);
}

describe("a gate with a state store", () => {
  it("refuses the repeat of a call in conversations that are not in memory", async () => {
    start();
    expect(await round('{"order":1}')).toBe(CONVERSATIONS);
    await until(() => store.look(0).summary?.count === CONVERSATIONS);
    expect(await round('{"order":1}')).toBe(0);
    expect(await round('{"order":2}')).toBe(CONVERSATIONS);
  });

  it("goes on from its store, and knows what was allowed", async () => {
    const first = start();
    await round('{"order":1}');
    await stop(first);
    start();
    expect(await round('{"order":1}')).toBe(0);
    expect(sources()).toEqual(["journal", "store"]);
  });

  it.each([
    ["is deleted", (file: string) => rmSync(file), "journal"],
    ["is cut off", (file: string) => truncateSync(file, 20_000), "journal"],
    ["is one from before", (file: string) => cpSync(`${file}.old`, file), "store"],
  ] as const)("decides the same where its file %s between two starts", async (...row) => {
    const [, damage, source] = row;
    const first = start();
    await round('{"order":1}');
    await stop(first);
    const file = join(directory, STATE_FILE);
    cpSync(file, `${file}.old`);
    const second = start();
    await round('{"order":2}');
    await stop(second);
    damage(file);
    rmSync(`${file}-lock`, { force: true });
    start();
    expect(await round('{"order":1}')).toBe(0);
    expect(await round('{"order":2}')).toBe(0);
    expect(sources()).toEqual(["journal", "store", source]);
  });

  it("decides the same where its file is deleted while it runs", async () => {
    const first = start();
    await round('{"order":1}');
    rmSync(join(directory, STATE_FILE));
    expect(await round('{"order":1}')).toBe(0);
    await stop(first);
    expect(existsSync(join(directory, STATE_FILE))).toBe(false);
    start();
    expect(await round('{"order":1}')).toBe(0);
  });

  it("ignores the store of another journal", async () => {
    const other = new RuntimeKit();
    store = new LmdbStateStore(directory);
    const states = { store, memoryBytes: () => 0 };
    const foreign = other.start({ checkpoints: null, options: OPTIONS, context: { states } });
    await other.propose({ conversationId: "c0", arguments: '{"order":7}' });
    await other.journaled(1);
    await foreign.close();
    await store.close();
    start();
    expect(await round('{"order":1}')).toBe(CONVERSATIONS);
    expect(kit.lines.map(({ message }) => message)).toContain("the state store was ignored");
    await other.close();
  });
});
