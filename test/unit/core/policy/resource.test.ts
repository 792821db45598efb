import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../services/core/canonical/json-value.ts";
import { compileResource, shorthandResource } from "../../../../services/core/policy/resource.ts";
import { segmentOf } from "../../../../services/core/policy/segment.ts";

function nameResource(text: string, normalized: JsonObject) {
  const compiled = compileResource(text);
  if (!compiled.ok) throw new Error(compiled.problem);
  return compiled.template({ ok: true, text: "{}", normalized, fields: null });
}

describe("a resource template", () => {
  test("is filled from the arguments", () => {
    expect(nameResource("order/{id}/payment", { id: 7 })).toBe("order/7/payment");
    expect(nameResource("{ a.b }-{c}", { a: { b: "x" }, c: true })).toBe("x-true");
    expect(nameResource("all", {})).toBe("all");
  });

  test("gives no resource where a placeholder has no value", () => {
    expect(nameResource("order/{id}", {})).toBeNull();
    for (const id of [null, "", " ", "\t\n", [], {}]) {
      expect(nameResource("order/{id}", { id })).toBeNull();
      expect(nameResource("order/{id}/part/{result.id}", { id })).toBeNull();
    }
    for (const id of [0, false, [""], { a: null }]) {
      expect(nameResource("order/{id}", { id })).not.toBeNull();
    }
  });

  test.each([
    ["a/{b", "a { without its }"],
    ["a/b}", "a } without its {"],
    ["a/{}", "a placeholder without a name"],
    ["a/{ }", "a placeholder without a name"],
    ["{a{b}}", "a placeholder without a name"],
  ])("%s is refused: %s", (text, problem) => {
    expect(compileResource(text)).toEqual({ ok: false, problem: `\`${text}\` has ${problem}` });
  });

  test("gives different resources for values that look like paths", () => {
    expect(nameResource("f/{p}", { p: "a/b" })).toBe("f/a%2Fb");
    expect(segmentOf("a%2Fb")).toBe("a%252Fb");
    expect(segmentOf({ b: 1, a: 2 })).toBe('{"a":2,"b":1}');
  });
});

test("the shorthand takes the canonical fields as the resource's name, or all arguments", () => {
  const invoice = shorthandResource("invoice");
  const identity = { ok: true, text: '{"a":1}', normalized: {} } as const;
  expect(invoice({ ...identity, fields: ["EUR", 5, "a/b"] })).toBe("invoice/EUR/5/a%2Fb");
  expect(invoice({ ...identity, fields: null })).toBe('invoice/{"a":1}');
});
