// The edits that take a safeguard away still fit the sources.
import { expect, it } from "vitest";
import { applyEdit, type Edit, editedText } from "../../support/edited-copy/edited-copy.ts";
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
