import { describe, expect, it } from "vitest";
import { valueCapabilities } from "../../../../services/adapters/values/value-capabilities.ts";
import type { JsonObject, JsonValue } from "../../../../services/core/canonical/json-value.ts";
import type { CustomNormalizer } from "../../../../services/core/capabilities.ts";
import {
  compileNormalizers,
  NORMALIZER_NAMES,
  type NormalizerStep,
} from "../../../../services/core/normalize/compile-normalizers.ts";
import type { Normalized } from "../../../../services/core/normalize/normalizer.ts";

const CONTEXT = { capabilities: valueCapabilities, schemaDefault: undefined };

function run(chain: readonly NormalizerStep[], value: JsonValue) {
  const compiled = compileNormalizers(chain, CONTEXT);
  if (!compiled.ok) throw new Error(compiled.problem);
  return compiled.run(value);
}

function problemOf(step: NormalizerStep): string {
  const compiled = compileNormalizers(["trim", step], CONTEXT);
  return compiled.ok ? "" : compiled.problem;
}

describe("minor_units", () => {
  it.each([
    ["0.01", 1],
    ["0.00", 0],
    ["-0", 0],
  ])("gives %s as %i", (value, units) => {
    expect(run(["minor_units"], value)).toEqual({ ok: true, value: units });
  });
});

describe("compileNormalizers", () => {
  it("runs a chain from left to right", () => {
    expect(run(["trim", "to_lower"], " USD ")).toEqual({ ok: true, value: "usd" });
    expect(run(["to_string", "decimal"], 1.5)).toEqual({ ok: true, value: "1.5" });
    expect(run(["decimal", "to_number"], "1.50")).toEqual({ ok: true, value: 1.5 });
    expect(run([], "as it is")).toEqual({ ok: true, value: "as it is" });
  });

  it("accepts a step as a policy document has it", () => {
    expect(run([{ name: "trim", arguments: [] }], " a ")).toEqual({ ok: true, value: "a" });
  });

  it("stops at the first step that fails", () => {
    expect(run(["trim", "to_int", "to_lower"], " x ")).toEqual({
      ok: false,
      message: "`to_int` needs decimal digits, found other text",
    });
  });

  it("has every name of the policy language", () => {
    expect(NORMALIZER_NAMES).toHaveLength(26);
  });

  it.each(["to_Int", "toString", "constructor", "__proto__", ""])("refuses %j", (name) => {
    expect(problemOf(name)).toBe(
      `unknown normalizer \`${name}\`, use one of ${NORMALIZER_NAMES.join(", ")}`,
    );
  });

  it("refuses an argument for a normalizer that takes none", () => {
    expect(problemOf({ name: "trim", arguments: ["2"] })).toBe(
      "normalizer `trim` takes no argument",
    );
  });
});

describe("arguments", () => {
  it.each([
    [{ name: "e164", arguments: ["XX"] }, "`XX` is no region of `e164`: write two letters, US"],
    [{ name: "e164", arguments: ["US", "real"] }, "`e164` knows no `real`: write e164(US, valid)"],
    [
      { name: "e164", arguments: ["US", "valid", "x"] },
      "normalizer `e164` takes at most 2 arguments",
    ],
    [{ name: "minor_units", arguments: ["QQQ"] }, "`QQQ` is no currency of ISO 4217"],
    [
      { name: "omit_if_default", arguments: ["1", "2"] },
      "normalizer `omit_if_default` takes at most one argument",
    ],
    [
      { name: "minor_units", arguments: ["USD", "EUR"] },
      "normalizer `minor_units` takes at most one argument",
    ],
  ] satisfies readonly (readonly [NormalizerStep, string])[])("%j", (step, problem) => {
    expect(problemOf(step)).toBe(problem);
  });
});

describe("minor_units of an argument", () => {
  const compiled = compileNormalizers(
    [{ name: "minor_units", arguments: ["price.currency"] }],
    CONTEXT,
  );
  const run = (args: JsonObject) => compiled.ok && compiled.run("1.5", args);

  it.each<readonly [JsonObject, Normalized]>([
    [{ price: { currency: "USD" } }, { ok: true, value: 150 }],
    [{ price: { currency: " kwd " } }, { ok: true, value: 1500 }],
    [
      { price: { currency: "JPY" } },
      { ok: false, message: "`minor_units` needs at most 0 digits after the point" },
    ],
    [
      { price: { currency: "dollars" } },
      { ok: false, message: "`minor_units` needs a currency code in `price.currency`" },
    ],
    [{}, { ok: false, message: "`minor_units` needs a currency code in `price.currency`" }],
  ])("%j", (args, expected) => {
    expect(run(args)).toEqual(expected);
  });
});

describe("omit_if_default", () => {
  const omitted = (schemaDefault: JsonValue | undefined, args: string[], value: JsonValue) => {
    const step = { name: "omit_if_default", arguments: args };
    const compiled = compileNormalizers([step], { ...CONTEXT, schemaDefault });
    return compiled.ok ? compiled.run(value) : compiled.problem;
  };

  it("leaves out a value that equals the default, written or of the schema", () => {
    expect(omitted(undefined, ["10"], 10)).toEqual({ ok: true, omit: true });
    expect(omitted(undefined, ["en"], "en")).toEqual({ ok: true, omit: true });
    expect(omitted({ a: [1] }, [], { a: [1] })).toEqual({ ok: true, omit: true });
    expect(omitted(10, ["11"], 10)).toEqual({ ok: true, value: 10 });
    expect(omitted(null, [], null)).toEqual({ ok: true, omit: true });
  });

  it("requires a default where there is none", () => {
    expect(omitted(undefined, [], 10)).toMatch(/has no default/);
  });
});

function nested(depth: number): JsonValue {
  return depth === 0 ? "inmost" : [nested(depth - 1)];
}

describe("a normalizer of the embedding program", () => {
  const custom = new Map<string, CustomNormalizer>([
    ["x_order", (value, [prefix = ""]) => (typeof value === "string" ? prefix + value : undefined)],
    [
      "x_throws",
      () => {
        throw new Error("broken");
      },
    ],
    ["x_odd", () => new Map() as unknown as JsonValue],
    ["x_nested", (depth) => nested(Number(depth))],
    ["x_deep", () => [[[{ a: [1, null, true, "x"] }]]]],
  ]);
  const context = { ...CONTEXT, capabilities: { ...valueCapabilities, customNormalizers: custom } };
  const runCustom = (step: NormalizerStep, value: JsonValue) => {
    const compiled = compileNormalizers([step, "trim"], context);
    return compiled.ok ? compiled.run(value) : compiled.problem;
  };

  it("runs in a chain with its arguments in parentheses", () => {
    expect(runCustom({ name: "x_order", arguments: ["W-"] }, "7 ")).toEqual({
      ok: true,
      value: "W-7",
    });
  });

  it.each(["x_throws", "x_odd"])(
    "refuses the value where it returns nothing usable (%s)",
    (name) => {
      expect(runCustom(name, "a")).toEqual({
        ok: false,
        message: `\`${name}\` cannot take the value`,
      });
    },
  );

  it("may return values nested as deep as arguments, and no deeper", () => {
    const compiled = compileNormalizers(["x_nested"], context);
    const results = [32, 33].map((depth) => compiled.ok && compiled.run(depth));
    expect(results).toMatchObject([{ ok: true }, { ok: false }]);
  });

  it("may return any JSON value", () => {
    const compiled = compileNormalizers(["x_deep"], context);
    expect(compiled.ok && compiled.run(1)).toEqual({
      ok: true,
      value: [[[{ a: [1, null, true, "x"] }]]],
    });
  });

  it("does not compile where it is not registered", () => {
    expect(runCustom("x_other", 1)).toMatch(/^`x_other` is not registered/);
  });
});
