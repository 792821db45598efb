// Commands on a data directory of another user.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openLog } from "../../../services/process/directory/open-log.ts";

const NOBODY = 65_534;

let directory = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "callgate-unreadable-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it("a log without read permission is not reported as missing", () => {
  const dataDir = join(directory, "data");
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "log.mdb"), "");
  // Root ignores file modes, so another user runs the command.
  const root = process.getuid?.() === 0;
  chmodSync(dataDir, root ? 0o700 : 0);
  if (root) process.seteuid?.(NOBODY);
  try {
    expect(() => openLog(dataDir)).toThrow(
      "cannot read it: permission denied; check who may read and write it",
    );
  } finally {
    if (root) process.seteuid?.(0);
    chmodSync(dataDir, 0o700);
  }
});

it.each(["nowhere", "file/below"])("a missing log is reported (%s)", (path) => {
  writeFileSync(join(directory, "file"), "");

  expect(() => openLog(join(directory, path))).toThrow("holds no log of a gate");
});
