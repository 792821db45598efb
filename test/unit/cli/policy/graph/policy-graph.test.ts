import { describe, expect, it } from "vitest";
import { policyGraph, renderGraph } from "../../../../../services/cli/policy/graph.ts";
import type { PolicyDocument } from "../../../../../services/core/policy/document.ts";

const SHOP: PolicyDocument = {
  aliases: [{ resource: "order/{id}", names: ["charge.order"] }],
  edges: {
    contains: [["customer/{c}", "order/{c}"]],
    derives: [["order/{x}/bill", "order/{x}/payment"]],
  },
  tool_schemas: {
    charge: { effects: [{ resource: "order/{id}/payment", kind: "charge" }] },
    bill: { effects: [{ resource: "order/{number}/bill", kind: "update" }] },
    look: { reads: ["order/{number}"] },
    note: { side_effect_resource: "note", canonical_fields: ["to", "<text>"] },
    quiet: {},
  },
};

describe("the graph of a policy", () => {
  const graph = policyGraph(SHOP);

  it("has one name for each resource, whatever its placeholders are called", () => {
    expect(graph.resources).toEqual([
      "customer/{c}",
      "note/{to}/{<text>}",
      "order/{id}",
      "order/{id}/bill",
      "order/{id}/payment",
    ]);
    expect(graph.tools).toEqual(["charge", "bill", "look", "note"]);
  });

  it("as text shows tools, their effects, and which resource contains which", () => {
    expect(renderGraph(graph, "text")).toBe(
      [
        "customer/{c}",
        "note/{to}/{<text>}",
        "  note: custom, once",
        "order/{id}",
        "  look: read",
        "  is contained in customer/{c}",
        "order/{id}/bill",
        "  bill: update",
        "  is contained in order/{id}",
        "  is the same effect as order/{id}/payment",
        "order/{id}/payment",
        "  charge: charge, once",
        "  is contained in order/{id}",
        "",
      ].join("\n"),
    );
  });

  it("as DOT has an edge for each effect and each relation", () => {
    const dot = renderGraph(graph, "dot");
    expect(dot).toContain(
      '"tool: charge" -> "resource: order/{id}/payment" [label="charge, once"];',
    );
    expect(dot.match(/->/g)).toHaveLength(graph.effects.length + graph.relations.length);
  });

  it("shows resources that only a result identifies under the name from arguments", () => {
    const resultGraph = policyGraph({
      tool_schemas: {
        make: { effects: [{ resource: "invoice/{result.id}", kind: "create" }] },
        drop: { effects: [{ resource: "invoice/{id}", kind: "delete" }] },
        add: { effects: [{ resource: "invoice/{id}/line/{result.id}", kind: "update" }] },
      },
    });
    expect(renderGraph(resultGraph, "text")).toBe(
      [
        "invoice/{id}",
        "  make: create, once, from its result",
        "  drop: delete, once",
        "invoice/{id}/line/{result.id}",
        "  add: update, from its result",
        "  is contained in invoice/{id}",
        "",
      ].join("\n"),
    );
  });

  it("is empty if nothing is declared, and its text says so", () => {
    const empty = policyGraph({ tool_schemas: { a: {} } });
    expect(renderGraph(empty, "text")).toBe("the policy declares no effects and no reads\n");
  });
});
