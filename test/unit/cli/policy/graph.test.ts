// `callgate policy graph` and the file it writes.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { policyGraph, renderGraph } from "../../../../services/cli/policy/graph.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { runInProcess } from "../../../support/memory-terminal.ts";

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

const POLICY = "tool_schemas: { charge_card: { effects: [{ resource: card, kind: charge }] } }\n";

let directory = "";

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "callgate-graph-"));
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

test("writes a graph to a file, and never over the policy that it shows", async () => {
  const policy = join(directory, "policy.yaml");
  writeFileSync(policy, POLICY);
  const out = join(directory, "graph.txt");

  const done = await runInProcess(["policy", "graph", "-p", policy, "-o", out]);
  expect(done).toMatchObject({ code: 0, stdout: "" });
  expect(readFileSync(out, "utf8")).toContain("charge_card");
  const same = await runInProcess(["policy", "graph", "-p", policy, "-o", policy]);
  expect(same).toMatchObject({ code: 2, stderr: expect.stringContaining("would be lost") });
  expect(readFileSync(policy, "utf8")).toBe(POLICY);
});
