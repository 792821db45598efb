import { describe, expect, it } from "vitest";
import { valueCapabilities } from "../../../../services/adapters/values/value-capabilities.ts";
import type { JsonValue } from "../../../../services/core/canonical/json-value.ts";
import {
  BUILT_NORMALIZER_NAMES,
  compileNormalizers,
  NORMALIZER_NAMES,
  type NormalizerStep,
} from "../../../../services/core/normalize/compile-normalizers.ts";

function run(chain: readonly NormalizerStep[], value: JsonValue) {
  const compiled = compileNormalizers(chain, valueCapabilities);
  if (!compiled.ok) throw new Error(compiled.problem);
  return compiled.run(value);
}

function problemOf(step: NormalizerStep): string {
  const compiled = compileNormalizers(["trim", step], valueCapabilities);
  return compiled.ok ? "" : compiled.problem;
}

describe("compileNormalizers", () => {
  it("runs a chain from left to right", () => {
    expect(run(["trim", "to_lower"], " USD ")).toEqual({ ok: true, value: "usd" });
    expect(run(["to_string", "decimal"], 1.5)).toEqual({ ok: true, value: "1.5" });
    expect(run(["decimal", "to_number"], "1.50")).toEqual({ ok: true, value: 1.5 });
    expect(run([], "as it is")).toEqual({ ok: true, value: "as it is" });
  });

  it("takes the form in which a policy document holds a step", () => {
    expect(run([{ name: "trim", arguments: [] }], " a ")).toEqual({ ok: true, value: "a" });
  });

  it("stops at the first step that cannot do its work", () => {
    expect(run(["trim", "to_int", "to_lower"], " x ")).toEqual({
      ok: false,
      message: "`to_int` needs decimal digits, found other text",
    });
  });

  it("knows every name of the policy language and has built these", () => {
    expect(BUILT_NORMALIZER_NAMES).toEqual([
      "to_int",
      "to_number",
      "to_string",
      "to_lower",
      "to_upper",
      "trim",
      "url",
      "decimal",
    ]);
    expect(NORMALIZER_NAMES).toHaveLength(24);
  });

  it.each(NORMALIZER_NAMES.filter((name) => !BUILT_NORMALIZER_NAMES.includes(name)))(
    "says of %s that it is not built yet",
    (name) => {
      expect(problemOf(name)).toBe(`normalizer \`${name}\` is not built yet`);
      expect(problemOf({ name, arguments: ["US"] })).toBe(
        `normalizer \`${name}\` is not built yet`,
      );
    },
  );

  it.each(["to_Int", "toString", "constructor", "__proto__", ""])("does not know %j", (name) => {
    expect(problemOf(name)).toBe(
      `unknown normalizer \`${name}\`, use one of to_int, to_number, to_string, to_lower, to_upper, trim, url, decimal`,
    );
  });

  it("refuses an argument where none is taken", () => {
    expect(problemOf({ name: "trim", arguments: ["2"] })).toBe(
      "normalizer `trim` takes no argument",
    );
  });
});

describe("every built normalizer", () => {
  const values: readonly JsonValue[] = ["1.50", " A ", "HTTP://A.example/%7E", 7, true, "\u0130"];

  it.each(BUILT_NORMALIZER_NAMES)("%s leaves its own result as it is", (name) => {
    let accepted = 0;
    for (const value of values) {
      const once = run([name], value);
      if (!once.ok) continue;
      accepted += 1;
      expect(run([name], once.value)).toEqual(once);
    }
    expect(accepted).toBeGreaterThan(0);
  });
});
