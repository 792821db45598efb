import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { lockDirectory } from "../../../../services/adapters/files/lock-directory.ts";

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "callgate-lock-"));
  path = join(directory, "analytics.lock");
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

const hold = (holder: unknown): void => writeFileSync(path, JSON.stringify(holder));
const take = (): (() => void) => lockDirectory(directory, "analytics");
const pidInFile = (): unknown =>
  (JSON.parse(readFileSync(path, "utf8")) as { readonly pid: unknown }).pid;

describe("the lock of a directory", () => {
  test("is refused to a second one of the same process, and given again once it is let go", () => {
    const release = take();
    expect(take).toThrow(`${directory} is written by the analytics of process ${process.pid}`);
    release();
    take()();
  });

  test("is refused while the process that holds it lives", async () => {
    const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    await once(other, "spawn");
    hold({ pid: other.pid, host: hostname() });
    expect(take).toThrow(`process ${other.pid}: end it, or name another directory`);
    other.kill("SIGKILL");
    await once(other, "exit");
    take()();
  });

  test.skipIf(process.platform !== "linux")(
    "is taken from a number that another process has by now",
    () => {
      hold({ pid: process.ppid, host: hostname(), begun: "1" });
      const release = take();
      expect(pidInFile()).toBe(process.pid);
      release();
    },
  );

  test.skipIf(process.platform !== "linux")(
    "is taken from our own number of an earlier life",
    () => {
      hold({ pid: process.pid, host: hostname(), begun: "1" });
      take()();
    },
  );

  test("is refused to another host's process while that one gives signs of life", () => {
    hold({ pid: process.pid, host: "elsewhere" });
    expect(take).toThrow(`of process ${process.pid} on host elsewhere`);
    const longAgo = new Date(Date.now() - 60_000);
    utimesSync(path, longAgo, longAgo);
    take()();
  });

  test("is taken from a file that names nobody", () => {
    writeFileSync(path, "");
    take()();
    writeFileSync(path, "{");
    take()();
  });

  test("is not taken away by the one that had it before", () => {
    const release = take();
    hold({ pid: process.ppid, host: hostname() });
    release();
    expect(pidInFile()).toBe(process.ppid);
  });
});
