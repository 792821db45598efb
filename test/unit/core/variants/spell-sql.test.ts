import { expect, test } from "vitest";
import { spellSql } from "../../../../services/core/variants/spell-sql.ts";

test("statements inside of one are told up to a megabyte, and beyond count as not seen", () => {
  const inner = "drop table ";
  const ofLength = (length: number) =>
    spellSql(`select 1 ${inner}${"a".repeat(length - inner.length)}`);
  const most = ofLength(1_048_576);
  expect(most.hidden).toBe(false);
  expect(most.parts.map((part) => part.length)).toEqual([1_048_576]);
  const more = ofLength(1_048_577);
  expect([more.hidden, more.parts]).toEqual([true, []]);
});
