import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Environment } from "../../../services/adapters/lmdb/environment.ts";
import { acquireGateRole } from "../../../services/adapters/lmdb/gate-role.ts";
import { LmdbLog } from "../../../services/adapters/lmdb/lmdb-log.ts";
import { LmdbStateStore, STATE_FILE } from "../../../services/adapters/lmdb/lmdb-state-store.ts";
import {
  describeLogContract,
  describeTimedLogContract,
  type TimedLogUnderTest,
} from "./log.contract.ts";
import { describeStateContract, type StatesUnderTest } from "./states.contract.ts";

function temporary(): { readonly dataDir: string; remove(): void } {
  const dataDir = mkdtempSync(join(tmpdir(), "callgate-lmdb-"));
  return { dataDir, remove: () => rmSync(dataDir, { recursive: true, force: true }) };
}

async function open(): Promise<TimedLogUnderTest> {
  const { dataDir, remove } = temporary();
  let now = 0;
  const environment = new Environment({ dataDir, partitions: 2, newId: () => "c" });
  const log = new LmdbLog(environment, () => now);
  const ownership = acquireGateRole(environment, log, dataDir);
  return {
    log,
    ownership,
    setTime: (nowMs) => {
      now = nowMs;
    },
    close: async () => {
      ownership.release();
      await log.close();
      remove();
    },
  };
}

describeLogContract("in LMDB", open);
describeTimedLogContract("in LMDB", open);

async function openStates(): Promise<StatesUnderTest> {
  const { dataDir, remove } = temporary();
  let store = new LmdbStateStore(dataDir);
  const close = () => store.close();
  return {
    store,
    reopen: async () => {
      await close();
      store = new LmdbStateStore(dataDir);
      return store;
    },
    close: async () => {
      await close();
      remove();
    },
  };
}

describeStateContract("in LMDB", openStates);

describe("a state store in LMDB whose file", () => {
  const saved = { puts: [], removals: [], header: null };
  const damages: readonly (readonly [string, (file: string) => void])[] = [
    ["was cut off", (file) => truncateSync(file, statSync(file).size - 8_192)],
    ["is no store", (file) => writeFileSync(file, "this is no store".repeat(1_000))],
    ["is empty", (file) => writeFileSync(file, "")],
  ];

  it.each(damages)("%s begins empty", async (_what, damage) => {
    const { dataDir, remove } = temporary();
    const first = new LmdbStateStore(dataDir);
    await first.write(0, saved);
    await first.close();
    damage(join(dataDir, STATE_FILE));
    const second = new LmdbStateStore(dataDir);
    expect(second.look(0)).toEqual({ summary: null, problem: null });
    await second.close();
    remove();
  });
});
