import fc from "fast-check";
import { expect, test } from "vitest";
import { rawItems, rawMembers } from "../../../services/cli/replay/raw-json.ts";

const INDENT = fc.constantFrom("", " ", "\t", "\r\n");

test("rawMembers returns the text of each member", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), INDENT, (object, indent) => {
      const members = rawMembers(indent + JSON.stringify(object, null, indent));
      const read = [...members].map(([key, text]) => [key, JSON.parse(text)]);
      // Through the text, which has no -0 and only own members.
      const expected = JSON.parse(JSON.stringify(object)) as Record<string, unknown>;
      expect(new Map(read as [string, unknown][])).toEqual(new Map(Object.entries(expected)));
    }),
    { numRuns: 1_000 },
  );
});

test("rawItems returns the text of each item", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), INDENT, (array, indent) => {
      const text = indent + JSON.stringify(array, null, indent);
      expect(rawItems(text).map((item) => JSON.parse(item))).toEqual(JSON.parse(text));
    }),
    { numRuns: 1_000 },
  );
});
