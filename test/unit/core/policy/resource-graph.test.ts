import { describe, expect, test } from "vitest";
import type { CompileProblem } from "../../../../services/core/policy/compile-identity.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { compileGraph } from "../../../../services/core/policy/resource-graph.ts";

function graph(edges: PolicyDocument["edges"]) {
  const problems: CompileProblem[] = [];
  const compiled = compileGraph(edges, problems);
  return { compiled, paths: problems.map(({ path }) => path) };
}

describe("without edges", () => {
  const { compiled } = graph(undefined);

  test("a resource is contained in its path prefixes", () => {
    expect(compiled.listAncestors("order/7/payment")).toEqual(["order/7", "order"]);
    expect([
      compiled.hasEdges,
      compiled.listAncestors("order"),
      compiled.equalsOf("order"),
    ]).toEqual([false, [], []]);
  });
});

test("a path that begins with a slash has no ancestor without a name", () => {
  const { compiled } = graph(undefined);
  expect(compiled.listAncestors("/etc/hosts")).toEqual(["/etc"]);
});

describe("with edges", () => {
  const { compiled, paths } = graph({
    contains: [["customer/{id}", "account/{id}"]],
    derives: [
      ["order/{order}/invoice", "order/{order}/payment"],
      ["order/{order}/payment", "refund/{order}"],
    ],
  });

  test("ancestors with other names are found, with the path to them", () => {
    expect(paths).toEqual([]);
    const ancestors = compiled.listAncestors("account/7/card");
    expect(ancestors).toEqual(["account/7", "account", "customer/7", "customer"]);
    expect(ancestors.map((whole) => compiled.pathToWhole("account/7/card", whole))).toEqual([
      ["account/7/card", "account/7"],
      ["account/7/card", "account/7", "account"],
      ["account/7/card", "account/7", "customer/7"],
      ["account/7/card", "account/7", "customer/7", "customer"],
    ]);
    expect(compiled.pathToWhole("account/7/card", "order")).toEqual(["account/7/card", "order"]);
  });

  test("derived resources are one thing, in both directions and over several edges", () => {
    expect(compiled.equalsOf("order/7/invoice")).toEqual(["order/7/payment", "refund/7"]);
    expect(compiled.equalsOf("refund/7")).toEqual(["order/7/payment", "order/7/invoice"]);
    expect(compiled.pathToEqual("refund/7", "order/7/invoice")).toEqual([
      "refund/7",
      "order/7/payment",
      "order/7/invoice",
    ]);
    expect(compiled.equalsOf("order/7")).toEqual([]);
    expect(compiled.equalsOf("refund/7/note")).toEqual([]);
  });
});

test("an edge may begin with a placeholder, or join two single names", () => {
  const { compiled } = graph({
    contains: [
      ["z/{x}/{y}", "{x}/{y}"],
      ["shop", "cart"],
    ],
  });
  expect(compiled.listAncestors("a/1").slice(0, 3)).toEqual(["a", "z/a/1", "z/a"]);
  expect(compiled.listAncestors("/1")[0]).toBe("z//1");
  expect(compiled.listAncestors("cart")).toEqual(["shop"]);
  expect(compiled.listAncestors("carts")).toEqual([]);
});

test("a search ends where edges form a circle or go on forever", () => {
  const { compiled } = graph({
    derives: [
      ["a/{x}", "b/{x}"],
      ["b/{x}", "a/{x}"],
    ],
    contains: [["z/{x}/{y}", "{x}/{y}"]],
  });
  expect(compiled.equalsOf("a/1")).toEqual(["b/1"]);
  const wide = graph({ contains: Array.from({ length: 40 }, (_, n) => [`w${n}/{x}`, "p/{x}"]) });
  expect(wide.compiled.listAncestors("p/1")).toHaveLength(32);
});

test("an invalid edge is reported with its path", () => {
  const { paths } = graph({
    contains: [
      ["a/{x}", "b/{y}"],
      ["a/{x", "b"],
    ],
    derives: [["a//b", "c"]],
  });
  expect(paths).toEqual(["edges.contains[0]", "edges.contains[1]", "edges.derives[0]"]);
});
