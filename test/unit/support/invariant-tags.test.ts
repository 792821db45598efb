import { expect, test } from "vitest";
import { findShortTag } from "../../support/invariant-tags.ts";

test.each([
  [" * S1 every collection has a bound", "S1"],
  ["  /** S3 in force */", "S3"],
  ["| W4 | offsets of the journal |", "W4"],
  ["  /** When it was allowed (S3 in `state.ts`). */", "S3"],
  ["// The first of each (T1).", "T1"],
  [" * STATE-1 every collection has a bound (STATE-2)", undefined],
  ["| S1.1 | a row of a design |", undefined],
  ["const code = f(E1);", undefined],
])("finds the short tag of `%s`", (line, tag) => {
  expect(findShortTag(line)).toBe(tag);
});
