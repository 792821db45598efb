// The edits that take a safeguard away still fit the sources.
import { expect, it } from "vitest";
import { applyEdit, type Edit, editedText } from "../../support/edited-copy/edited-copy.ts";
import { filesThatReach, withOriginals } from "../../support/edited-copy/reached-files.ts";
import {
  KAFKA_SAFEGUARDS,
  RUNTIME_SAFEGUARDS,
  STOCK_SENDS,
} from "../../support/edited-copy/safeguards.ts";

const ALL: readonly (readonly [string, readonly Edit[]])[] = Object.entries({
  ...RUNTIME_SAFEGUARDS,
  ...KAFKA_SAFEGUARDS,
  ...STOCK_SENDS,
});

it.each(ALL)("%s is switched off by edits that apply and change the source", (_, edits) => {
  for (const { file, replace } of edits) {
    expect(editedText(file, edits)).toContain(replace);
    expect(editedText(file, edits)).not.toBe(editedText(file, []));
  }
});

it("refuses an edit that no longer applies, or applies twice", () => {
  const edit = { file: "a.ts", find: "check();", replace: "" };
  expect(applyEdit("check();\nrun();", edit)).toBe("\nrun();");
  expect(() => applyEdit("run();", edit)).toThrow(/a\.ts applies 0 times/);
  expect(() => applyEdit("check();check();", edit)).toThrow(/a\.ts applies 2 times/);
});

const SOURCES: Readonly<Record<string, string>> = {
  "a/entry.ts":
    'import { b } from "./b.ts";\nimport type { T } from "../d.ts";\nimport { e } from "e";\n',
  "a/b.ts": 'import "../c.ts";\nimport {\n  type F,\n  f,\n} from "./f.ts";\n',
  "a/f.ts": 'export * from "./g.ts";\nimport data from "./data.json";\n',
  "a/g.ts": 'export const f = () => import("./late.ts");\n',
  "a/late.ts": 'import { b } from "./b.ts";\n',
  "c.ts": "",
  "d.ts": 'import { g } from "./a/g.ts";\n',
};
const textOf = (file: string): string => {
  const text = SOURCES[file];
  if (text === undefined) throw new Error(`nothing loads ${file}`);
  return text;
};

it.each([
  ["c.ts", ["a/b.ts", "a/entry.ts", "a/f.ts", "a/g.ts", "a/late.ts", "c.ts"]],
  ["a/entry.ts", ["a/entry.ts"]],
  ["a/data.json", ["a/b.ts", "a/data.json", "a/entry.ts", "a/f.ts", "a/g.ts", "a/late.ts"]],
  ["d.ts", []],
])("an edit of %s reaches the files that load it, by whatever path", (edited, reached) => {
  expect([...filesThatReach(new Set([edited]), "a/entry.ts", textOf)].toSorted()).toEqual(reached);
});

it("imports what is not copied from its place in the sources", () => {
  const reaching = new Set(["a/entry.ts", "a/b.ts"]);
  expect(withOriginals("a/entry.ts", textOf("a/entry.ts"), { reaching, root: "/sources" })).toBe(
    'import { b } from "./b.ts";\nimport type { T } from "/sources/d.ts";\nimport { e } from "e";\n',
  );
  expect(() => withOriginals("a/f.ts", "import.meta.url", { reaching, root: "/sources" })).toThrow(
    "a/f.ts depends on its place",
  );
});
