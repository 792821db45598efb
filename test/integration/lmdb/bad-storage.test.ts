// Damage to a data directory. Each case must end in an error that says what to do, and must lose
// nothing that was acknowledged. Cases that could end the process run in another one.
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Environment } from "../../../services/adapters/lmdb/environment.ts";
import { acquireGateRole } from "../../../services/adapters/lmdb/gate-role.ts";
import { makeNameKey } from "../../../services/adapters/lmdb/keys.ts";
import { LmdbLog } from "../../../services/adapters/lmdb/lmdb-log.ts";
import { PipelineError } from "../../../services/runtime/errors.ts";
import type { OutgoingRecord } from "../../../services/runtime/ports.ts";

const NOBODY = 65_534;
const EVERYTHING = { recordsMax: 1_000_000, bytesMax: Number.MAX_SAFE_INTEGER };

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "callgate-lmdb-"));
});

afterEach(() => {
  chmodSync(dataDir, 0o700);
  rmSync(dataDir, { recursive: true, force: true });
});

function open(partitions?: number): { readonly environment: Environment; readonly log: LmdbLog } {
  const options = {
    dataDir,
    newId: () => "c",
    ...(partitions === undefined ? {} : { partitions }),
  };
  const environment = new Environment(options);
  return { environment, log: new LmdbLog(environment, Date.now) };
}

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof PipelineError) return error.code;
    throw error;
  }
  return "no error";
}

function record(text: string): OutgoingRecord {
  return { topic: "decisions", partition: 0, key: "k", value: Buffer.from(text) };
}

/** Opens the directory in another process; returns its message, or the signal that ended it. */
function openElsewhere(): string {
  const script = join(import.meta.dirname, "../../support/lmdb-child.ts");
  const child = spawnSync(process.execPath, ["--import", "tsx", script, "open", dataDir], {
    encoding: "utf8",
  });
  return child.signal ?? `${child.stdout}${child.stderr}`;
}

it("keeps the log from other users, also in a directory that is open to them", async () => {
  chmodSync(dataDir, 0o755);
  const { environment } = open();
  await environment.close();
  for (const name of ["log.mdb", "log.mdb-lock"]) {
    expect(statSync(join(dataDir, name)).mode & 0o007).toBe(0);
  }
});

describe("a damaged data directory", () => {
  it.each([10, 100, 50_000])("is refused where its file is %i bytes of other data", (bytes) => {
    writeFileSync(join(dataDir, "log.mdb"), Buffer.alloc(bytes, 65));
    expect(openElsewhere()).toContain("is damaged or not a log of callgate");
    expect(codeOf(() => open())).toBe("log_corrupt");
  });

  it("is created anew where its file is empty", async () => {
    writeFileSync(join(dataDir, "log.mdb"), "");
    await open().log.close();
  });

  it("is refused where its file was truncated, and ends no process", async () => {
    const { log } = open();
    for (let i = 0; i < 40; i += 1) await log.append([record("x".repeat(20_000))]);
    await log.close();
    const path = join(dataDir, "log.mdb");
    truncateSync(path, Math.floor(statSync(path).size / 8192) * 4096);
    expect(openElsewhere()).toContain("damaged");
  });

  it("is refused where a record was changed on disk", async () => {
    const { environment, log } = open();
    await log.append([record("what was written")]);
    environment.transact(() => {
      for (const { key, value } of [...environment.tables.chunks.getRange()]) {
        const changed = Buffer.from(value);
        changed.write("W", changed.indexOf("what"));
        environment.tables.chunks.putSync(key, changed);
      }
    });
    await expect(log.read("decisions", 0, 0, EVERYTHING)).rejects.toThrow("damaged on disk");
    await log.close();
  });

  it("is refused where it is a file", () => {
    const path = join(dataDir, "file");
    writeFileSync(path, "");
    const make = (): Environment => new Environment({ dataDir: path, newId: () => "c" });
    expect(codeOf(make)).toBe("log_unreadable");
  });

  it("is refused with another number of partitions and with another format", async () => {
    const { environment, log } = open(2);
    expect(codeOf(() => open(3))).toBe("log_mismatch");
    const identity = { format: 99, clusterId: "c", partitions: 2 };
    environment.transact(() =>
      environment.tables.byName.putSync(
        makeNameKey("identity"),
        Buffer.from(JSON.stringify(identity)),
      ),
    );
    await log.close();
    expect(codeOf(() => open(2))).toBe("log_mismatch");
  });

  it("is refused with a remedy where it cannot be read", () => {
    // Modes do not restrict root, so another user tries it.
    const root = process.getuid?.() === 0;
    chmodSync(dataDir, root ? 0o700 : 0);
    if (root) process.seteuid?.(NOBODY);
    try {
      expect(() => open()).toThrow("check owner and permissions");
    } finally {
      if (root) process.seteuid?.(0);
    }
  });
});

describe("a full disk", () => {
  it("causes a retryable error, loses nothing, and the log goes on", async ({ skip }) => {
    const mount = join(dataDir, "small");
    mkdirSync(mount);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", mount], { stdio: "ignore" });
    } catch {
      skip("a file system of its own cannot be mounted here");
    }
    const filler = join(mount, "filler");
    writeFileSync(filler, Buffer.alloc(1_500_000));
    const environment = new Environment({ dataDir: join(mount, "data"), newId: () => "c" });
    const log = new LmdbLog(environment, Date.now);
    try {
      const writer = await acquireGateRole(environment, log, "g").takeOver(0);
      const batch = {
        records: [record("x".repeat(30_000))],
        consumed: { proposals: 1, results: 0, verdicts: 0 },
      };
      let committed = 0;
      let outcome = await writer.commit(batch);
      for (; outcome.type === "committed"; outcome = await writer.commit(batch)) committed += 1;
      expect(outcome.type).toBe("unknown");
      expect(outcome.error).toMatchObject({ code: "log_full" });
      expect(await log.endOffset("decisions", 0)).toBe(committed);
      expect((await log.read("decisions", 0, 0, EVERYTHING)).records).toHaveLength(committed);
      rmSync(filler);
      expect((await writer.commit(batch)).type).toBe("committed");
    } finally {
      await log.close();
      execFileSync("umount", [mount]);
    }
  });
});
