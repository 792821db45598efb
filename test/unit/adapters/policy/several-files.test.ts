import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadPolicy } from "../../../../services/adapters/policy/load.ts";

function load(...texts: readonly string[]) {
  return loadPolicy(texts.map((text, index) => ({ name: `p${index}.yaml`, text })));
}

function problems(...texts: readonly string[]): readonly string[] {
  const loaded = load(...texts);
  if (loaded.ok) return [];
  return loaded.problems.map(
    ({ file, line, column, message }) => `${file}:${line}:${column} ${message}`,
  );
}

const IMPORTED = `
tool_schemas:
  pay:
    input_schema: { type: object }
  look: { read_only: true }
checks: { loop_repeat: warn }
`;
const OWN = `
tool_schemas:
  pay:
    effects: [{ resource: "order/{id}", kind: charge }]
  mail: {}
checks: { loop_cycle: warn }
`;

describe("several policy files", () => {
  it("are merged by tool and key, and other blocks by key, in any order", () => {
    const [one, other] = [load(IMPORTED, OWN), load(OWN, IMPORTED)];
    expect(one).toMatchObject({
      ok: true,
      document: {
        tool_schemas: {
          pay: { input_schema: { type: "object" }, effects: [{ kind: "charge" }] },
          look: { read_only: true },
          mail: {},
        },
        checks: { loop_repeat: "warn", loop_cycle: "warn" },
      },
    });
    expect(one.ok && other.ok && one.digest).toBe(other.ok && other.digest);
  });

  it("may say the same twice", () => {
    expect(problems(IMPORTED, IMPORTED)).toEqual([]);
  });

  it("may not contradict each other, and both places are named", () => {
    const later = "mode: shadow\ntool_schemas:\n  look: { read_only: false }\n  pay: {}";
    expect(problems(IMPORTED, OWN, later)).toEqual([
      "p2.yaml:3:11 `tool_schemas.look.read_only` is written twice, also at p0.yaml:5:11",
    ]);
  });

  it("do not mix the parts of one schema, list or other value of a key", () => {
    const schema = "tool_schemas: { pay: { input_schema: { required: [id] } } }";
    expect(problems(IMPORTED, schema)).toEqual([
      "p1.yaml:1:24 `tool_schemas.pay.input_schema` is written twice, also at p0.yaml:4:5",
    ]);
    const effects = "tool_schemas: { pay: { effects: [] } }";
    expect(problems(OWN, effects)).toHaveLength(1);
  });

  it("report what is wrong with a key in the file that has it", () => {
    expect(problems(OWN, "tool_schemas: { pay: { read_only: 7 } }")).toEqual([
      expect.stringMatching(/^p1\.yaml:1:\d+ /),
    ]);
    expect(problems("tool_schemas: { pay: { read_only: 7 } }", OWN)).toEqual([
      expect.stringMatching(/^p0\.yaml:1:\d+ /),
    ]);
  });

  it("give what one file with all of their keys gives, however the keys are divided", () => {
    const keys = ["read_only: true", "time_limit_ms: 7", "repeatable: true", "cache_ttl_s: 3"];
    const tools = ["a", "b"];
    const all = tools.flatMap((tool) => keys.map((key) => [tool, key] as const));
    const textOf = (part: typeof all): string =>
      `tool_schemas:\n${tools
        .map((tool) => [tool, part.filter(([of]) => of === tool).map(([, key]) => key)] as const)
        .map(([tool, of]) => `  ${tool}: { ${of.join(", ")} }`)
        .join("\n")}`;
    const whole = load(textOf(all));
    fc.assert(
      fc.property(fc.array(fc.nat(2), { minLength: 8, maxLength: 8 }), (files) => {
        const parts = [0, 1, 2].map((file) => textOf(all.filter((_, at) => files[at] === file)));
        const merged = load(...parts);
        expect(merged.ok && whole.ok && merged.digest).toBe(whole.ok && whole.digest);
      }),
    );
  });
});
