// A read is stale where something was written that its resources hang together with.
import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { MINUTE, startStory } from "../../../support/decider-spec.ts";

const update = (resource: string) => ({ effects: [{ resource, kind: "update" as const }] });

const POLICY: PolicyDocument = {
  edges: {
    contains: [["project/{id}", "board/{id}"]],
    derives: [["order/{id}", "invoice/{id}"]],
  },
  tool_schemas: {
    get_items: { reads: ["order/{id}/items"] },
    get_order: { reads: ["order/{id}"] },
    list_orders: { reads: ["order"] },
    get_board: { reads: ["board/{id}"] },
    get_project: { reads: ["project/{id}"] },
    get_invoice: { reads: ["invoice/{id}"] },
    set_order: update("order/{id}"),
    add_item: update("order/{id}/items"),
    set_project: update("project/{id}"),
    set_board: update("board/{id}"),
    set_invoice: update("invoice/{id}"),
  },
};

const AROUND = [
  ["get_items", "set_order"],
  ["get_order", "add_item"],
  ["list_orders", "add_item"],
  ["get_board", "set_project"],
  ["get_project", "set_board"],
  ["get_invoice", "set_order"],
  ["get_order", "set_invoice"],
] as const;

describe("a read runs again", () => {
  test.each(AROUND)("%s, once %s has written", (read, write) => {
    const story = startStory(POLICY);
    story.done(read, { id: 7 }, "old");
    story.done(write, { id: 7 });
    story.done(read, { id: 7 }, "new");
    expect(story.refused(read, { id: 7 }).answered).not.toBeNull();
  });

  test.each(AROUND)("%s, while %s writes", (read, write) => {
    const story = startStory(POLICY);
    story.done(read, { id: 7 }, "old");
    story.allowed(write, { id: 7 });
    story.done(read, { id: 7 }, "old");
    story.allowed(read, { id: 7 });
  });

  test.each([
    ["get_items", "set_order"],
    ["get_order", "add_item"],
  ])("%s, once %s has written, where no edges are declared", (read, write) => {
    const story = startStory({ tool_schemas: POLICY.tool_schemas ?? {} });
    story.done(read, { id: 7 }, "old");
    story.done(write, { id: 7 });
    story.allowed(read, { id: 7 });
  });

  test("and is no loop although the output is the same", () => {
    const story = startStory(POLICY);
    for (let n = 0; n < 5; n += 1) {
      story.done("get_order", { id: 7 }, "same");
      story.done("add_item", { id: 7, n });
    }
  });
});

describe("a read is answered from memory", () => {
  test.each([
    ["get_order", { id: 8 }],
    ["get_items", { id: 70 }],
    ["get_board", { id: 7 }],
  ])("%s of %j, after any write elsewhere", (read, args) => {
    const story = startStory(POLICY);
    story.done("add_item", { id: 7, n: 1 });
    story.done(read, args, "old");
    story.done("add_item", { id: 7, n: 2 });
    story.allowed("set_order", { id: 9 });
    expect(story.refused(read, args).answered).not.toBeNull();
  });

  test("after a write that came before the read", () => {
    const story = startStory(POLICY);
    story.done("add_item", { id: 7 });
    story.done("get_order", { id: 7 }, "new");
    story.done("set_board", { id: 7 });
    expect(story.refused("get_order", { id: 7 }).answered).not.toBeNull();
  });

  test("while a write around its resource is only held", () => {
    const story = startStory({
      ...POLICY,
      authorization: {
        tiers: [{ name: "ask", pattern: "add_*", action: "hitl", expires_ms: MINUTE }],
      },
    });
    story.done("get_order", { id: 7 }, "old");
    story.held("add_item", { id: 7 });
    expect(story.refused("get_order", { id: 7 }).answered).not.toBeNull();
  });
});

test("a write is repeated only after a write to its own resource", () => {
  const story = startStory(POLICY);
  story.done("add_item", { id: 7 });
  story.done("set_order", { id: 7 });
  expect(story.reason("add_item", { id: 7 })).toBe("duplicate_call");
});
