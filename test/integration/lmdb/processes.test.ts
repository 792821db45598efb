// A data directory that real processes share; they are killed by pid.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Environment } from "../../../services/adapters/lmdb/environment.ts";
import { acquireGateRole } from "../../../services/adapters/lmdb/gate-role.ts";
import { makeNameKey } from "../../../services/adapters/lmdb/keys.ts";
import { LmdbLog } from "../../../services/adapters/lmdb/lmdb-log.ts";
import { FencedError } from "../../../services/runtime/errors.ts";

const EVERYTHING = { recordsMax: 1_000_000, bytesMax: Number.MAX_SAFE_INTEGER };

type Child = {
  readonly process: ChildProcess;
  /** Returns the next line that it prints; null: it has ended. */
  line(): Promise<Record<string, unknown> | null>;
  ended(): Promise<void>;
};

let dataDir: string;
let environment: Environment;
let log: LmdbLog;
const children: Child[] = [];

function start(mode: string, count = 0): Child {
  const script = join(import.meta.dirname, "../../support/lmdb-child.ts");
  const child = spawn(process.execPath, ["--import", "tsx", script, mode, dataDir, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const started: Child = {
    process: child,
    line: async () => {
      const { value, done } = await lines.next();
      return done === true ? null : (JSON.parse(value) as Record<string, unknown>);
    },
    ended: () => ended,
  };
  children.push(started);
  return started;
}

async function kill(child: Child): Promise<void> {
  child.process.kill("SIGKILL");
  await child.ended();
}

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "callgate-lmdb-"));
  environment = new Environment({ dataDir, partitions: 1, newId: () => "c" });
  log = new LmdbLog(environment, Date.now);
});

afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
  await log.close();
  rmSync(dataDir, { recursive: true, force: true });
});

describe("the gate role of a data directory", () => {
  it("is refused with the holder's pid while another process has it, and taken when that has died", async () => {
    const holder = start("hold");
    const ready = await holder.line();
    expect(() => acquireGateRole(environment, log, "me")).toThrow(`process ${ready?.["pid"]}`);
    const other = start("hold");
    expect((await other.line())?.["error"]).toContain(`process ${ready?.["pid"]}`);
    await kill(holder);
    const role = acquireGateRole(environment, log, "me");
    expect((await role.takeOver(0)).partition).toBe(0);
    role.release();
  });

  it("is refused a second time in one process until it is released", () => {
    const role = acquireGateRole(environment, log, "first");
    expect(() => acquireGateRole(environment, log, "second")).toThrow(`process ${process.pid}`);
    role.release();
    role.release();
    acquireGateRole(environment, log, "second").release();
  });

  it("is taken where the holder's pid now belongs to another process", () => {
    const stale = { ...holderHere(), pid: process.ppid, begun: "1", nonce: "gone" };
    put("gate", JSON.stringify(stale));
    acquireGateRole(environment, log, "me").release();
  });

  it.each([
    ["another host", { host: "elsewhere" }, "process 1 on host elsewhere"],
    ["another container of a host of our name", { space: "pid:[1]" }, "process 1:"],
  ])("is taken from %s only when its heartbeat has stopped", (_where, overrides, message) => {
    // On this host no process with this pid started then.
    put("gate", JSON.stringify({ ...holderHere(), pid: 1, begun: "1", ...overrides, nonce: "x" }));
    writeFileSync(join(dataDir, "gate.heartbeat"), "");
    expect(() => acquireGateRole(environment, log, "me")).toThrow(message);
    rmSync(join(dataDir, "gate.heartbeat"));
    acquireGateRole(environment, log, "me").release();
  });

  it("gives no partition to a holder that was replaced while suspended", async () => {
    const role = acquireGateRole(environment, log, "me");
    put("gate", JSON.stringify({ pid: 1, host: "elsewhere", nonce: "x" }));
    const { epoch } = log.fence(0);
    await expect(role.takeOver(0)).rejects.toThrow(FencedError);
    expect(log.fence(0).epoch).toBe(epoch + 1);
    role.release();
  });
});

describe("several processes on one log", () => {
  it("wakes a reader for a record of another process", async () => {
    const waiting = log.waitForNew([{ topic: "proposals", partition: 0, offset: 0 }], 60_000);
    const writer = start("append", 1);
    await waiting;
    expect(await log.endOffset("proposals", 0)).toBe(1);
    await writer.ended();
  });

  it("assigns offsets without gaps, in the order of each writer", async () => {
    const writers = [start("append", 100), start("append", 100), start("append", 100)];
    await Promise.all(writers.map((writer) => writer.ended()));
    const { records } = await log.read("proposals", 0, 0, EVERYTHING);
    expect(records.map(({ offset }) => offset)).toEqual([...Array(300).keys()]);
    for (const { process: child } of writers) {
      const own = records
        .map(({ value }) => String(value))
        .filter((v) => v.startsWith(`${child.pid}/`));
      expect(own).toEqual([...Array(100).keys()].map((i) => `${child.pid}/${i}`));
    }
  });

  it("retains every acknowledged commit of a killed process, and no part of another", async () => {
    for (let round = 0; round < 3; round += 1) {
      showLastCommit();
      const before = await log.endOffset("allowed", 0);
      const writer = start("commit");
      let acknowledged = 0;
      while (acknowledged < 20 + 15 * round) {
        const line = await writer.line();
        expect(line).toMatchObject({ outcome: "committed" });
        acknowledged = Number(line?.["batch"]);
      }
      await kill(writer);
      showLastCommit();
      const batches = (await log.endOffset("allowed", 0)) - before;
      expect(batches).toBeGreaterThanOrEqual(acknowledged);
      expect(await log.endOffset("refused", 0)).toBe(before + batches);
      expect(await log.endOffset("decisions", 0)).toBe(2 * (before + batches));
      expect(log.recordedOffsets(0).proposals).toBe(batches);
    }
  });
});

/**
 * A commit is made even if its writer is killed before the call returns: LMDB shows it to readers
 * when the next one writes.
 */
function showLastCommit(): void {
  put("probe", "");
}

function put(name: string, text: string): void {
  environment.transact(() =>
    environment.tables.byName.putSync(makeNameKey(name), Buffer.from(text)),
  );
}

function holderHere(): object {
  const role = acquireGateRole(environment, log, "probe");
  const holder = environment.view(() => environment.tables.byName.get(makeNameKey("gate")));
  role.release();
  return JSON.parse(String(holder)) as object;
}
