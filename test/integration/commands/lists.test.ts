import { describe, expect, it } from "vitest";
import { evaluateLines } from "../../eval/commands/evaluate-commands.ts";
import { readLines } from "../../eval/commands/line-lists.ts";

describe("the lists of shell lines", () => {
  it.each([
    ["everyday", 100, 5],
    ["harmful", 150, 15],
    ["writes", 150, 3],
  ] as const)("%s has at least %i lines of %i classes, none twice", (name, lines, groups) => {
    const all = readLines(name);
    expect(all.length).toBeGreaterThanOrEqual(lines);
    expect(new Set(all.map(({ group }) => group)).size).toBeGreaterThanOrEqual(groups);
    expect(new Set(all.map(({ line }) => line)).size).toBe(all.length);
  });

  it("reach their targets under the coding-agent template", async () => {
    const rows = await evaluateLines();
    expect(rows.length).toBeGreaterThan(0);
    for (const { name, state, wrong } of rows) {
      const shown = `${name}: ${JSON.stringify([...wrong])}`;
      expect(state === "MISSED" ? shown : state).not.toBe(shown);
    }
  });
});
