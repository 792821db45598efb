import { describe, expect, it } from "vitest";
import { importTools } from "../../../../../services/cli/policy/import/import-tools.ts";

function yamlOf(names: readonly string[]): string {
  const json = names.map((name) => ({ name, inputSchema: { type: "object" } }));
  const imported = importTools([{ name: "t", json }], "mcp");
  if (!imported.ok) throw new Error(JSON.stringify(imported.problems));
  return imported.yaml;
}

describe("the text of an imported policy", () => {
  it("says above each tool what it was taken for, and why", () => {
    const yaml = yamlOf(["get_order", "frobnicate"]);
    expect(yaml).toContain("# read, sure: its name has the verb get\n    get_order:");
    expect(yaml).toMatch(/# unsure: is frobnicate a read\? Then write read_only: true alone/);
  });

  it("holds what destroys, and proposes the other tiers in comments", () => {
    const yaml = yamlOf(["drop_table", "delete_note", "send_email"]);
    expect(yaml).toContain("pattern: drop_table\n        action: hitl");
    expect(yaml).toContain('# - { name: deletes, pattern: "delete_note", action: hitl');
    expect(yaml).toContain('# - { name: messages, pattern: "send_email", action: hitl');
  });

  it("makes no pattern of a name that has a wildcard", () => {
    expect(yamlOf(["drop_*", "get_a"])).not.toContain("tiers");
  });

  it("keeps tools of one name apart that several servers have", () => {
    const json = [{ name: "search", inputSchema: { type: "object" } }];
    const sources = ["github.json", "notes.json", "notes.tools.json"];
    const imported = importTools(
      sources.map((name) => ({ name, json })),
      "mcp",
    );
    if (!imported.ok) throw new Error(JSON.stringify(imported.problems));
    for (const name of ["github/search", "notes/search", "notes-2/search"]) {
      expect(imported.yaml).toContain(`${name}:`);
      expect(imported.notes).toContainEqual({
        tool: name,
        path: "$.name",
        message: "is in several sources: call it by this name at the gate",
      });
    }
  });
});
