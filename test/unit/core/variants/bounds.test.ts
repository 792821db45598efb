// What is too long or too deep to be read may be anything, so it counts as a write.
import { expect, test } from "vitest";
import { classifySql } from "../../../../services/core/variants/classify-sql.ts";
import { classifyShell } from "../../../../services/core/variants/shell/classify-shell.ts";

const shell = (text: string) => classifyShell(text, { session: false });

test("a line of so many characters is read, and of one more is not", () => {
  expect([65_536, 65_537].map((length) => shell("ls".padEnd(length)))).toEqual(["read", "write"]);
});

test("fifteen subshells in each other are read, and sixteen are not", () => {
  const nested = (depth: number) => shell(`${"(".repeat(depth)}ls${")".repeat(depth)}`);
  expect([15, 16].map(nested)).toEqual(["read", "write"]);
});

test("SQL of so many characters is read, and of one more is not", () => {
  const select = (length: number) => classifySql("select 1".padEnd(length));
  expect([1_048_576, 1_048_577].map(select)).toEqual(["read", "write"]);
});
