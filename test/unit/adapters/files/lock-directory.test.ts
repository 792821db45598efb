import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type DirectoryLock,
  lockDirectory,
} from "../../../../services/adapters/files/lock-directory.ts";
import { TestClock } from "../../../support/runtime-kit.ts";

const isLinux = process.platform === "linux";
const HERE = {
  host: hostname(),
  ...(isLinux ? { space: readlinkSync("/proc/self/ns/pid") } : {}),
};

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "callgate-lock-"));
  path = join(directory, "analytics.lock");
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

const hold = (holder: unknown): void => writeFileSync(path, JSON.stringify(holder));
const take = (clock = new TestClock()): Promise<DirectoryLock> =>
  lockDirectory(directory, "analytics", clock);
const pidInFile = (): unknown =>
  (JSON.parse(readFileSync(path, "utf8")) as { readonly pid: unknown }).pid;

/** A clock that runs an action of another process in each sleep. */
class BusyClock extends TestClock {
  slept = 0;
  readonly #meanwhile: (slept: number) => void;

  constructor(meanwhile: (slept: number) => void) {
    super();
    this.#meanwhile = meanwhile;
  }

  override sleep(): Promise<void> {
    this.slept += 1;
    this.#meanwhile(this.slept);
    return super.sleep();
  }
}

const signAt = (atMs: number): void => utimesSync(path, atMs / 1_000, atMs / 1_000);

describe("the lock of a directory", () => {
  test("is refused a second time in one process until it is released", async () => {
    const lock = await take();
    await expect(take()).rejects.toThrow(
      `${directory} is in use by the analytics of process ${process.pid}`,
    );
    lock.check();
    lock.release();
    (await take()).release();
    expect(readdirSync(directory)).toEqual([]);
  });

  test("is refused while its process runs", async () => {
    const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    await once(other, "spawn");
    hold({ pid: other.pid, ...HERE });
    await expect(take()).rejects.toThrow(`process ${other.pid}: end it, or use another directory`);
    other.kill("SIGKILL");
    await once(other, "exit");
    (await take()).release();
  });

  test.skipIf(!isLinux)("is taken where the pid now belongs to another process", async () => {
    hold({ pid: process.ppid, ...HERE, begun: "1" });
    const lock = await take();
    expect(pidInFile()).toBe(process.pid);
    lock.release();
  });

  test.skipIf(!isLinux)("is taken where our own pid was reused", async () => {
    hold({ pid: process.pid, ...HERE, begun: "1" });
    (await take()).release();
  });

  test.skipIf(!isLinux)(
    "is refused where a container with our host name and pid has a heartbeat",
    async () => {
      hold({ pid: process.pid, host: hostname(), space: "pid:[1]", begun: "1" });
      const clock = new BusyClock((slept) => signAt(slept * 2_000));
      await expect(take(clock)).rejects.toThrow(`of process ${process.pid}`);
    },
  );

  test.each([0, Date.now() + 3_600_000])(
    "is refused while a process of another host has a heartbeat, with its clock at %d",
    async (atMs) => {
      hold({ pid: process.pid, host: "elsewhere" });
      signAt(atMs);
      const clock = new BusyClock((slept) => {
        if (slept === 3) signAt(atMs + 2_000);
      });
      await expect(take(clock)).rejects.toThrow(`of process ${process.pid} on host elsewhere`);
      expect(clock.slept).toBe(3);
    },
  );

  test("is taken from a process of another host without a heartbeat, however new the last one is", async () => {
    hold({ pid: process.pid, host: "elsewhere" });
    (await take()).release();
  });

  test("is taken where the file names no process", async () => {
    writeFileSync(path, "");
    (await take()).release();
    writeFileSync(path, "{");
    (await take()).release();
  });

  test("is refused where the process that created the file writes its name only then", async () => {
    writeFileSync(path, "");
    const clock = new BusyClock((slept) => {
      if (slept === 1) hold({ pid: process.ppid, ...HERE });
    });
    await expect(take(clock)).rejects.toThrow(`process ${process.ppid}`);
  });

  test("has one owner where several processes find it stale at once", async () => {
    hold({ pid: process.pid, host: "elsewhere" });
    const all = await Promise.allSettled([take(), take(), take()]);
    const locks = all.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(locks).toHaveLength(1);
    locks[0]?.check();
  });

  test("is refused to a process whose replacement was replaced", async () => {
    hold({ pid: process.pid, host: "elsewhere" });
    const clock = new BusyClock(() => {
      if (pidInFile() === process.pid && readFileSync(path, "utf8").includes("nonce")) {
        hold({ pid: process.ppid, ...HERE });
      }
    });
    await expect(take(clock)).rejects.toThrow(`process ${process.ppid}`);
  });

  test("is neither used nor removed by its previous owner", async () => {
    const lock = await take();
    hold({ pid: process.ppid, ...HERE });
    expect(() => lock.check()).toThrow(`is in use by the analytics of process ${process.ppid}`);
    lock.release();
    expect(pidInFile()).toBe(process.ppid);
  });
});
