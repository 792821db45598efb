// A gate on a disk that fills up stops allowing calls, loses nothing, and goes on by itself.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Environment } from "../../../services/adapters/lmdb/environment.ts";
import { acquireGateRole, type GateRole } from "../../../services/adapters/lmdb/gate-role.ts";
import { LmdbLog } from "../../../services/adapters/lmdb/lmdb-log.ts";
import { LmdbStateStore } from "../../../services/adapters/lmdb/lmdb-state-store.ts";
import { coreFold } from "../../../services/runtime/core-engine.ts";
import type { StoreBatch } from "../../../services/runtime/state-store.ts";
import { StreamTask } from "../../../services/runtime/task.ts";
import { defaultTaskOptions } from "../../../services/runtime/task-context.ts";
import {
  createTestLogger,
  DAY_MS,
  type LoggedLine,
  noMetrics,
  RuntimeKit,
  until,
} from "../../support/runtime-kit.ts";
import { checkTopics } from "../../support/simulation/check-topics.ts";
import { createEngines } from "../../support/simulation/engines.ts";
import { checkedJson, encodeJson, jsonCodec } from "../../support/simulation/json-codec.ts";

const EVERYTHING = { recordsMax: 1_000_000, bytesMax: Number.MAX_SAFE_INTEGER };
const PROPOSALS = 400;

const [engine] = createEngines();
let mount: string;
let isMounted = false;

beforeEach(() => {
  mount = mkdtempSync(join(tmpdir(), "callgate-full-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", mount], { stdio: "ignore" });
    isMounted = true;
  } catch {
    isMounted = false;
  }
});

afterEach(() => {
  if (isMounted) execFileSync("umount", [mount]);
  rmdirSync(mount);
});

function createTask(log: LmdbLog, role: GateRole, store: LmdbStateStore, lines: LoggedLine[]) {
  const options = defaultTaskOptions({ keepMs: 9 * DAY_MS, journalSpanMs: 8 * DAY_MS });
  return new StreamTask(
    {
      partition: 0,
      log,
      ownership: role,
      checkpoints: null,
      states: { store, memoryBytes: () => 0 },
      codec: jsonCodec,
      fold: coreFold,
      clock: {
        nowMs: Date.now,
        sleep: (timeMs) => new Promise((resolve) => setTimeout(resolve, Math.min(timeMs, 50))),
      },
      logger: createTestLogger(lines),
      metrics: noMetrics,
      options,
    },
    engine,
  );
}

describe("a gate on a disk that fills up", () => {
  it("is suspended without losing a decision, and goes on when space is free", async ({ skip }) => {
    if (!isMounted) skip("a file system of its own cannot be mounted here");
    const kit = new RuntimeKit();
    const environment = new Environment({ dataDir: join(mount, "data"), newId: () => "c" });
    const log = new LmdbLog(environment, Date.now);
    const role = acquireGateRole(environment, log, "gate");
    const lines: LoggedLine[] = [];
    const store = new LmdbStateStore(join(mount, "data"));
    const task = createTask(log, role, store, lines);
    const records = Array.from({ length: PROPOSALS }, () => ({
      topic: "proposals" as const,
      partition: 0,
      key: "t/c",
      value: encodeJson(kit.proposal({ tool: "read_order" })),
    }));
    await log.append(records);
    writeFileSync(join(mount, "filler"), Buffer.alloc(spaceLeft(mount) - 200_000));
    task.start();
    await until(() => task.status.error?.code === "log_full");
    expect(task.status.state).toBe("suspended");
    expect(await log.endOffset("allowed", 0)).toBeLessThan(PROPOSALS);
    rmSync(join(mount, "filler"));
    await until(async () => (await log.endOffset("decisions", 0)) === PROPOSALS);
    const topics = new Map<string, Awaited<ReturnType<LmdbLog["read"]>>["records"]>();
    for (const topic of ["proposals", "results", "verdicts", "decisions", "deadLetters"] as const) {
      topics.set(topic, (await log.read(topic, 0, 0, EVERYTHING)).records);
    }
    for (const topic of ["allowed", "refused", "held"] as const) {
      topics.set(topic, (await log.read(topic, 0, 0, EVERYTHING)).records);
    }
    expect(
      checkTopics(
        (topic) => topics.get(topic) ?? [],
        () => engine,
        checkedJson,
      ),
    ).toEqual([]);
    await task.close();
    await store.close();
    role.release();
    await log.close();
  });
});

describe("a state store on a disk that fills up", () => {
  it("writes a batch as a whole or not at all, and goes on when space is free", async ({
    skip,
  }) => {
    if (!isMounted) skip("a file system of its own cannot be mounted here");
    const store = new LmdbStateStore(join(mount, "data"));
    let written = 0;
    await expect(async () => {
      for (; written < 100; written += 1) await store.write(0, batch(written));
    }).rejects.toMatchObject({ code: "checkpoint_unavailable" });
    await expect(store.write(0, batch(written))).rejects.toThrow("the state store in");
    expect([...store.entries(0)]).toHaveLength(written * BATCH);
    for (const { key } of store.entries(0)) expect(store.get(0, key)?.key).toBe(key);
    execFileSync("mount", ["-o", "remount,size=8m", mount], { stdio: "ignore" });
    await store.write(0, batch(written));
    expect([...store.entries(0)]).toHaveLength((written + 1) * BATCH);
    await store.close();
  });
});

const BATCH = 20;

/** States that cannot be compressed. */
function batch(at: number): StoreBatch {
  const puts = Array.from({ length: BATCH }, (_, n) => {
    const seq = at * BATCH + n + 1;
    const bytes = new Uint8Array(randomBytes(3_000));
    return { key: `t/c${seq}`, seq, hash: "ab".repeat(32), digest: "cd".repeat(32), bytes };
  });
  return { puts, removals: [], header: null };
}

function spaceLeft(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}
