// What the evaluation of imports counts, and the targets that it must reach.
import { describe, expect, it } from "vitest";
import { evaluateImport } from "../../eval/tools/evaluate-import.ts";
import { scoreSource } from "../../eval/tools/score-import.ts";
import type { ToolLabel } from "../../eval/tools/tool-corpus.ts";

const write: ToolLabel = { kind: "write", effect: null, harmless: false, key: null };
const required = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };

function score(name: string, label: Partial<ToolLabel>) {
  const json = [{ name, inputSchema: required }];
  const labels = { [name]: { ...write, ...label } };
  return scoreSource({ name: "s", half: "seen", format: "mcp", json, labels }, false);
}

describe("the evaluation of imports", () => {
  it("counts reads that were found, and writes taken for reads", () => {
    expect(score("get_a", { kind: "read" })).toMatchObject({
      reads: 1,
      readsRecognized: 1,
      wrong: [],
    });
    expect(score("set_a", { kind: "read" })).toMatchObject({ reads: 1, readsRecognized: 0 });
    expect(score("get_a", {})).toMatchObject({
      ...{ writes: 1, writesAsReads: 1 },
      wrong: ["s get_a: A WRITE TAKEN FOR A READ"],
    });
  });

  it("takes an effect for usable that names an argument of the label's", () => {
    const effect = (resource: string) => ({ effect: { resource, what: "delete" } });
    expect(score("delete_a", effect("a/{id}"))).toMatchObject({ withEffect: 1, usableEffects: 1 });
    expect(score("delete_a", effect("a/{name}"))).toMatchObject({ usableEffects: 0 });
    expect(score("delete_a", effect("all"))).toMatchObject({ usableEffects: 1 });
  });

  it("counts harmless tools that are held", () => {
    expect(score("purge_a", { harmless: true })).toMatchObject({ harmless: 1, harmlessHeld: 1 });
    expect(score("update_a", { harmless: true })).toMatchObject({ harmless: 1, harmlessHeld: 0 });
  });

  it("reaches its targets on both halves, and lists nothing of the unseen one", async () => {
    const lines: string[] = [];
    const { targets, missing } = await evaluateImport((line) => lines.push(line), true);
    expect(missing).toEqual([]);
    expect(targets.filter(({ ok }) => !ok)).toEqual([]);
    expect(targets).toHaveLength(8);
    const listed = lines.filter((line) => line.startsWith("- "));
    expect(listed.length).toBeGreaterThan(0);
    expect(listed.filter((line) => line.startsWith("- trello"))).toEqual([]);
  }, 60_000);
});
