import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../../services/core/canonical/json-value.ts";
import { LIMITS } from "../../../../services/core/limits.ts";
import { namesFromResult } from "../../../../services/core/policy/pending-resource.ts";
import { compileResource } from "../../../../services/core/policy/resource.ts";

/** The resource of the template after the arguments are filled in, and then the output. */
function nameResource(text: string, output: JsonValue, normalized: JsonObject = {}): string | null {
  const compiled = compileResource(text);
  if (!compiled.ok) throw new Error(compiled.problem);
  expect(compiled.byResult).toBe(true);
  const pending = compiled.template({ ok: true, text: "{}", normalized, fields: null });
  const names = typeof pending === "string" ? namesFromResult(pending, output) : null;
  expect(names?.length ?? 1).toBe(1);
  return names?.[0] ?? null;
}

describe("a resource that the result names", () => {
  test("is filled from both arguments and result", () => {
    expect(nameResource("invoice/{result.id}", { id: 7 })).toBe("invoice/7");
    expect(nameResource("{ result.a.b }-{c}/x", { a: { b: "y" } }, { c: true })).toBe("y-true/x");
    expect(nameResource("{o}/{result.id}", { id: "a/b%" }, { o: "c/d" })).toBe("c%2Fd/a%2Fb%25");
  });

  test("equals the one that arguments with the same values name", () => {
    const plain = compileResource("invoice/{id}");
    for (const id of [7, "7", "a{b}", "{result.id}", { b: [1] }, true]) {
      const normalized = { id };
      const byArguments =
        plain.ok && plain.template({ ok: true, text: "{}", normalized, fields: null });
      expect(nameResource("invoice/{result.id}", { id })).toBe(byArguments);
    }
  });

  test("takes no placeholder from an argument", () => {
    const output = { id: 7, secret: "s" };
    expect(nameResource("{note}/{result.id}", output, { note: "{result.secret}" })).toBe(
      "{result.secret}/7",
    );
    expect(nameResource("{a}{result.id}{a}", output, { a: "}{" })).toBe("}{7}{");
  });

  test.each<[string, JsonValue]>([
    ["has no such part", {}],
    ["has nothing there", { id: null }],
    ["has an empty text there", { id: "" }],
    ["has white space there", { id: " \n" }],
    ["has an empty list there", { id: [] }],
    ["has an empty object there", { id: {} }],
    ["is a list", [{ id: 7 }]],
    ["is no object", "7"],
    ["has a name that is too long", { id: "x".repeat(LIMITS.resultNameLength + 1) }],
  ])("has no name where the output %s", (_, output) => {
    expect(nameResource("invoice/{result.id}", output)).toBeNull();
  });

  test("may have a part up to the length limit", () => {
    const id = "x".repeat(LIMITS.resultNameLength);
    expect(nameResource("{result.id}", { id })).toBe(id);
  });

  test("is not even pending where an argument is missing", () => {
    expect(nameResource("{order}/{result.id}", { id: 7 })).toBeNull();
  });

  test.each(["{result.}", "{result..id}", "{result.id.}"])("%s is refused", (text) => {
    const problem = `\`${text}\` in \`a/${text}\` is no part of a result: write {result.id}`;
    expect(compileResource(`a/${text}`)).toEqual({ ok: false, problem });
  });

  test("leaves an argument with the name `result` alone", () => {
    expect(compileResource("a/{result}")).toMatchObject({ ok: true, byResult: false });
    expect(compileResource("a/{results.id}")).toMatchObject({ ok: true, byResult: false });
  });
});
