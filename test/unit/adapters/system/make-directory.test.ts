import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeDirectory } from "../../../../services/adapters/system/make-directory.ts";
import { makeDirectory as folder } from "../../../support/open-gate.ts";

test("makes what is missing above it too, with its mode, and is content with what is there", () => {
  const top = folder();
  const path = join(top, "a", "b", "c");
  makeDirectory(path, 0o700);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(statSync(join(top, "a")).mode & 0o777).toBe(0o700);
  writeFileSync(join(path, "file"), "");
  makeDirectory(path, 0o700);
  expect(readdirSync(path)).toEqual(["file"]);
});

test("says why it cannot", () => {
  const top = folder();
  writeFileSync(join(top, "file"), "");
  expect(() => makeDirectory(join(top, "file"))).toThrow(/EEXIST/);
  expect(() => makeDirectory(join(top, "file", "a"))).toThrow(/ENOTDIR/);
});

// Where Node's own way of making all of a path never returns.
test.runIf(process.platform === "linux")("ends where a directory takes no others", () => {
  expect(() => makeDirectory("/proc/callgate")).toThrow(/ENOENT/);
  expect(() => makeDirectory("/proc/callgate/a")).toThrow(/ENOENT/);
});

test("takes a directory that somebody else makes meanwhile", () => {
  const path = join(folder(), "a");
  mkdirSync(path);
  expect(() => makeDirectory(path)).not.toThrow();
});
