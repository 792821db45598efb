// Commands beside a data directory that another user keeps.
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

it("a log that may not be looked at is no missing log", () => {
  const dataDir = join(directory, "data");
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "log.mdb"), "");
  // For root no mode is a hindrance: another user is tried instead.
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

it.each(["nowhere", "file/below"])("a log that is not there is told so (%s)", (path) => {
  writeFileSync(join(directory, "file"), "");

  expect(() => openLog(join(directory, path))).toThrow("holds no log of a gate");
});
