import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  makeSecret,
  openSecretFile,
  secretFrom,
} from "../../../../services/adapters/config/secret-file.ts";
import { makeDirectory } from "../../../support/open-gate.ts";

test("creates a secret once, readable by its owner alone, and opens it again", () => {
  const directory = join(makeDirectory(), "data");
  const made = openSecretFile(directory, true);
  expect(made.ok).toBe(true);
  expect(openSecretFile(directory, true)).toEqual(made);
  const path = join(directory, "secret");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory)).toEqual(["secret"]);
  expect(Buffer.from(readFileSync(path, "utf8"), "base64url")).toHaveLength(32);
  expect(openSecretFile(makeDirectory(), true)).not.toEqual(made);
});

test("does not replace a file without a secret", () => {
  const directory = makeDirectory();
  const path = join(directory, "secret");
  writeFileSync(path, "\n");
  const opened = openSecretFile(directory, true);
  expect(opened).toMatchObject({ ok: false });
  expect(opened.ok ? "" : opened.problem.message).toContain(path);
  expect(readFileSync(path, "utf8")).toBe("\n");
});

test("reports a directory that cannot be written", () => {
  const directory = join(makeDirectory(), "locked");
  mkdirSync(directory);
  writeFileSync(join(directory, "file"), "");
  const opened = openSecretFile(join(directory, "file"), true);
  expect(opened).toMatchObject({ ok: false });
  expect(opened.ok ? "" : opened.problem.message).toContain("cannot be used");
});

test("the key id identifies a secret without revealing it", () => {
  const text = "a secret of enough length";
  const [one, same, other] = [text, Buffer.from(text), `${text}!`].map(secretFrom);
  expect(one?.ok && one.secret.keyId).toMatch(/^[0-9a-f]{16}$/);
  expect(one?.ok && one.secret.keyId).toBe(same?.ok && same.secret.keyId);
  expect(one?.ok && one.secret.keyId).not.toBe(other?.ok && other.secret.keyId);
  expect(secretFrom("fifteen letters")).toMatchObject({ ok: false });
  expect(makeSecret().keyId).not.toBe(makeSecret().keyId);
});
