// docs/coverage.md has every row of the published designs, and its files and tests exist.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = new URL("../../../", import.meta.url);
const pathOf = (path: string): string => fileURLToPath(new URL(path, ROOT));

/** How many rows each design has. */
const ROWS = { S1: 14, S2: 11, S3: 8, S4: 6 } as const;

interface Row {
  readonly row: string;
  readonly codePath: string;
  readonly file: string;
  readonly test: string;
}

const rows: readonly Row[] = readFileSync(pathOf("docs/coverage.md"), "utf8")
  .split("\n")
  .filter((line) => /^\| S\d\.\d+ \|/.test(line))
  .map((line) => {
    const [row = "", , codePath = "", file = "", name = ""] = line
      .slice(2, -2)
      .split(" | ")
      .map((cell) => cell.trim());
    return { row, codePath: stripBackticks(codePath), file: stripBackticks(file), test: name };
  });

function stripBackticks(cell: string): string {
  return cell.replaceAll("`", "");
}

/** The titles of the tests in a file. */
function testsIn(file: string): readonly string[] {
  const text = readFileSync(pathOf(file), "utf8");
  return [...text.matchAll(/\b(?:test|it)\(\s*"((?:[^"\\]|\\.)*)"/g)].map(
    (match) => match[1] ?? "",
  );
}

test("the page has every expected row and no other", () => {
  const wanted = Object.entries(ROWS).flatMap(([design, count]) =>
    Array.from({ length: count }, (_, index) => `${design}.${index + 1}`),
  );
  expect([...new Set(rows.map(({ row }) => row))].sort()).toEqual(wanted.sort());
});

test("every file and test that a row names exists", () => {
  const wrong = rows.filter(
    ({ codePath, file, test: name }) =>
      !existsSync(pathOf(codePath)) || !existsSync(pathOf(file)) || !testsIn(file).includes(name),
  );
  expect(wrong).toEqual([]);
});

test("every test with a row's number is in that row", () => {
  const coveringTests = new Set(rows.map(({ test: name }) => name));
  const files = readdirSync(pathOf("test/conformance/designs")).filter((name) => /^s\d/.test(name));
  expect(files).toHaveLength(Object.keys(ROWS).length);
  const unnamed = files
    .flatMap((name) => testsIn(`test/conformance/designs/${name}`))
    .filter((name) => !coveringTests.has(name));
  expect(unnamed).toEqual([]);
});
