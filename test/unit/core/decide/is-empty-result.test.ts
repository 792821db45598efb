import fc from "fast-check";
import { expect, test } from "vitest";
import { isEmptyResult } from "../../../../services/core/decide/is-empty-result.ts";

test.each([
  "[]",
  " [ ] ",
  '{"page":9,"pages":3,"total":88,"rows":[]}',
  '{"query":"fax","hits":0,"items":[],"took_ms":12}',
  '{"offers":[],"search_id":"s-40024","has_more":false}',
  '{"data":{"rows":[],"bytes":0},"next":null}',
])("%j holds nothing", (output) => {
  expect(isEmptyResult(output, '{"page":9,"query":"fax"}')).toBe(true);
});

test.each([
  "",
  "{}",
  "none",
  '{"rows":[1]}',
  '{"rows":[],"other":[0]}',
  '{"name":"Anna","orders":[]}',
  '{"balance":12.5,"bookings":[]}',
  '{"rows":0}',
  "[[]]",
  '{"rows":[]',
])("%j holds something, or is no result of a list", (output) => {
  expect(isEmptyResult(output, "{}")).toBe(false);
});

test("a text is nothing where it repeats an argument, whatever it is", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 40 }), (text) => {
      const output = JSON.stringify({ query: text, rows: [] });
      return isEmptyResult(output, JSON.stringify({ query: text })) && !isEmptyResult(output, "{}");
    }),
  );
});
