import { describe, expect, it } from "vitest";
import { loadPolicy } from "../../../../services/adapters/policy/load.ts";
import { NOT_BUILT } from "../../../../services/adapters/policy/not-built.ts";
import { policyPath } from "../../../../services/core/policy/path.ts";

const tier = (extra: string) => `authorization: { tiers: [{ name: a, pattern: "x", ${extra} }] }`;
const tool = (extra: string) => `tool_schemas: { a: { ${extra} } }`;

/** A valid use of everything that is not built, with the path that is refused. */
const USES: readonly (readonly [text: string, path: string])[] = [
  [
    tool('effects: [{ resource: "a/{result.id}", kind: create }]'),
    "tool_schemas.a.effects[0].resource",
  ],
  [tool('reads: ["a/{ result.id }"]'), "tool_schemas.a.reads[0]"],
];

describe("what is not built yet", () => {
  it.each(USES)("%s", (text, path) => {
    const loaded = loadPolicy([{ name: "p.yaml", text }]);
    const found = loaded.ok ? [] : loaded.problems;
    expect(found.map((problem) => problem.path)).toEqual([path]);
    expect(found[0]?.message).toMatch(/is not built yet: this version would not enforce it$/);
  });

  it("is all tried above", () => {
    const tried = USES.map(([, path]) => path);
    const untried = NOT_BUILT.map(({ path }) => policyPath(path).replaceAll('["*"]', "")).filter(
      (path) => !tried.some((other) => bare(other).startsWith(path)),
    );
    expect(untried).toEqual([]);
  });

  it("does not reach what looks like it and is built", () => {
    const text = [
      tier("action: hitl, approvals: 1"),
      tool(
        'normalizers: { x: [trim, to_int], y: url }, effects: [{ resource: "a/{result_id}", kind: create }]',
      ),
      "acknowledgement: { mode: implicit }",
      "loops: { cycle_rounds: 3, failure_streak: { same: 3, transient: 5 } }",
    ];
    expect(loadPolicy([{ name: "p.yaml", text: text.join("\n") }])).toMatchObject({ ok: true });
  });
});

/** A path without list indices and tool names, as the list of what is not built has it. */
function bare(path: string): string {
  return path.replaceAll(/\[\d+\]/g, "").replace("tool_schemas.a", "tool_schemas");
}
