import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeDirectory } from "../../../../services/adapters/system/make-directory.ts";
import { makeDirectory as folder } from "../../../support/open-gate.ts";

test("creates missing parents with the mode, and accepts existing directories", () => {
  const top = folder();
  const path = join(top, "a", "b", "c");
  makeDirectory(path, 0o700);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(statSync(join(top, "a")).mode & 0o777).toBe(0o700);
  writeFileSync(join(path, "file"), "");
  makeDirectory(path, 0o700);
  expect(readdirSync(path)).toEqual(["file"]);
});

test("throws the system's error", () => {
  const top = folder();
  writeFileSync(join(top, "file"), "");
  expect(() => makeDirectory(join(top, "file"))).toThrow(/EEXIST/);
  expect(() => makeDirectory(join(top, "file", "a"))).toThrow(/ENOTDIR/);
});

// Node's own recursive creation never returns there.
test.runIf(process.platform === "linux")("ends where a directory cannot contain others", () => {
  expect(() => makeDirectory("/proc/callgate")).toThrow(/ENOENT/);
  expect(() => makeDirectory("/proc/callgate/a")).toThrow(/ENOENT/);
});

test("accepts a directory that another process creates meanwhile", () => {
  const path = join(folder(), "a");
  mkdirSync(path);
  expect(() => makeDirectory(path)).not.toThrow();
});
