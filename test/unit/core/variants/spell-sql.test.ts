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

test.each([
  ["WITH x AS (DELETE FROM users) SELECT 1", "DELETE FROM users"],
  ["WITH x AS ( DELETE FROM users ) SELECT 1", "DELETE FROM users"],
  ["WITH x AS (DELETE FROM a WHERE (b)) SELECT (1)", "DELETE FROM a WHERE (b)"],
  ["WITH x AS (SELECT 1), y AS (DELETE FROM a), z AS (SELECT (2)) SELECT 3", "DELETE FROM a"],
  ["WITH x AS (DELETE FROM public.users) SELECT 1", "DELETE FROM users"],
  ["SELECT ')', (1)) DROP TABLE a", "DROP TABLE a"],
])("a statement inside of one ends at the parenthesis that closes around it: %s", (text, inner) => {
  expect(spellSql(text).parts).toContain(inner);
});
