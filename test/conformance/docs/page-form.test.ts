// The form of the pages: each is listed, has short paragraphs, and tables without prose.
import { describe, expect, test } from "vitest";
import { listTextFiles, readText } from "../../support/source-tree.ts";

const PARAGRAPH_LINES_MAX = 5;
const CELL_SENTENCES_MAX = 2;
/** Measured results with their conditions. */
const RESULTS = /^docs\/(benchmarks|performance|benchmarks-history)\.md$/;

const pages = listTextFiles().filter((path) => /^docs\/[^/]+\.md$/.test(path));
const read = pages.filter((path) => !RESULTS.test(path));

/** Without blocks of code. */
const proseOf = (path: string): string => readText(path).replaceAll(/^ *```[\s\S]*?^ *```$/gm, "");

/** The paragraphs and list items of a page, each as its lines. */
function listParagraphs(path: string): readonly (readonly string[])[] {
  const blocks = proseOf(path)
    .split(/\n\s*\n/)
    .filter((block) => !/^\s*(\||#|<| {4})/.test(block));
  return blocks
    .flatMap((block) => block.trim().split(/\n(?=\s*(?:[-*]|\d+\.) )/))
    .map((text) => text.split("\n"));
}

function listCells(path: string): readonly string[] {
  const rows = proseOf(path).split("\n");
  return rows.filter((line) => line.startsWith("|")).flatMap((row) => row.split(" | "));
}

describe("a page", () => {
  test("is listed in docs/README.md", () => {
    const index = readText("docs/README.md");
    const names = pages.map((path) => path.slice("docs/".length));
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => name !== "README.md" && !index.includes(`(${name})`))).toEqual(
      [],
    );
  });

  test("has short paragraphs", () => {
    const long = read.flatMap((path) =>
      listParagraphs(path)
        .filter((lines) => lines.length > PARAGRAPH_LINES_MAX)
        .map(([line]) => `${path}: ${line}`),
    );
    expect(long).toEqual([]);
  });

  test("has facts in its tables and no prose", () => {
    const wordy = read.flatMap((path) =>
      listCells(path)
        .filter((cell) => (cell.match(/[.!?](?= [A-Z])/g) ?? []).length >= CELL_SENTENCES_MAX)
        .map((cell) => `${path}: ${cell}`),
    );
    expect(wordy).toEqual([]);
  });
});
