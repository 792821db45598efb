// Effects and reads for each element of a list: bulk and single calls, splits, and what a refusal says of them.
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../../../services/core/limits.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { type Story, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  authorization: { tiers: [{ name: "ask", pattern: "ask_*", action: "hitl" }] },
  tool_schemas: {
    delete_email: { effects: [{ resource: "email/{id}", kind: "delete" }] },
    delete_emails: { effects: [{ resource: "email/{ids[]}", kind: "delete" }] },
    ask_delete: { effects: [{ resource: "email/{ids[]}", kind: "delete" }] },
    get_email: { read_only: true, reads: ["email/{id}"] },
    get_emails: { read_only: true, reads: ["email/{ids[]}"] },
    tag_emails: { effects: [{ resource: "email/{ids[]}", kind: "update" }] },
    push_files: {
      canonical_fields: ["repo", "files[].path", "files[].content"],
      normalizers: { "files[].path": [{ name: "path", arguments: [] }] },
      effects: [{ resource: "repo/{repo}/{files[].path}", kind: "create" }],
    },
    send_mail: { effects: [{ resource: "mail/{subject}/{to[]}", kind: "send" }] },
    make_all: { effects: [{ resource: "email/{result.items[].id}", kind: "create" }] },
    make_one: { effects: [{ resource: "email/{id}", kind: "create" }] },
    ship: { effects: [{ resource: "{orders[].id}/{orders[].items[].sku}", kind: "create" }] },
  },
};

function messageOf(story: Story, tool: string, args: object): string {
  const { refusal } = story.refused(tool, { ...args });
  expect(refusal.reason).toBe("side_effect_conflict");
  return refusal.message;
}

describe("a call with an effect on each element", () => {
  test("overlaps with single calls, before and after it", () => {
    const story = startStory(POLICY);
    story.done("delete_emails", { ids: ["a", "b"] });
    expect(story.reason("delete_email", { id: "b" })).toBe("side_effect_conflict");
    story.done("delete_email", { id: "c" });
    expect(messageOf(story, "delete_emails", { ids: ["d", "c", "e"] })).toContain(
      'Of the 3 parts of this call, this one was done before: "email/c". Leave out what was done, and propose the rest.',
    );
    story.done("delete_emails", { ids: ["d", "e"] });
  });

  test("names all elements of another split that were done, and asks to drop them", () => {
    const story = startStory(POLICY);
    story.done("delete_emails", { ids: ["a", "b"] });
    story.done("delete_emails", { ids: ["c"] });
    const { refusal } = story.refused("delete_emails", { ids: ["b", "c", "x"] });
    expect(refusal.disposition).toBe("change_approach");
    expect(refusal.message).toContain('these were done before: "email/b", "email/c".');
  });

  test("is done as a whole in another order", () => {
    const story = startStory(POLICY);
    story.done("delete_emails", { ids: ["a", "b"] });
    const { refusal } = story.refused("delete_emails", { ids: ["b", "a", "b"] });
    expect(refusal.message).toContain("All 2 parts of this call were done before.");
    expect(refusal.disposition).toBe("ask_user");
  });

  test("names no more than some of many elements", () => {
    const story = startStory(POLICY);
    const ids = Array.from({ length: 40 }, (_, at) => `m${at}`);
    story.done("delete_emails", { ids });
    const message = messageOf(story, "delete_emails", { ids: [...ids, "x"] });
    expect(message).toContain('"email/m11" and 28 more.');
    expect(message).not.toContain("email/m12");
  });

  test("may be tried again when it failed, and conflicts while it is held", () => {
    const story = startStory(POLICY);
    story.failed("delete_emails", { ids: ["a", "b"] });
    story.done("delete_emails", { ids: ["a", "b"] });
    const hold = story.held("ask_delete", { ids: ["c", "d"] });
    expect(story.reason("delete_email", { id: "d" })).toBe("side_effect_conflict");
    story.denied(hold);
    story.done("delete_email", { id: "d" });
  });

  test("takes a value that is no list as a list of one", () => {
    const story = startStory(POLICY);
    story.done("send_mail", { subject: "hi", to: "ann" });
    expect(story.reason("send_mail", { subject: "hi", to: ["bob", "ann"] })).toBe(
      "side_effect_conflict",
    );
    story.done("send_mail", { subject: "hi", to: ["bob"] });
  });

  test("goes through lists within lists, each element with its own parent", () => {
    const story = startStory(POLICY);
    const order = (id: string, ...skus: readonly string[]) => ({
      id,
      items: skus.map((sku) => ({ sku })),
    });
    const call = story.done("ship", { orders: [order("1", "a", "b"), order("2", "c")] });
    expect(call.facts.resources).toEqual(["1/a", "1/b", "2/c"]);
  });

  test.each([
    ["empty", { ids: [] }, "is missing"],
    ["missing", {}, "is missing"],
    ["with a blank element", { ids: ["a", " "] }, "is missing"],
    [
      "too long",
      { ids: Array.from({ length: LIMITS.resourcesPerCall + 1 }, (_, at) => `${at}`) },
      "names more",
    ],
  ])("is invalid where the list is %s", (_why, args, problem) => {
    const { refusal } = startStory(POLICY).refused("delete_emails", args);
    expect(refusal.reason).toBe("invalid_arguments");
    expect(refusal.message).toContain("ids[]");
    expect(refusal.message).toContain(problem);
  });

  test("takes as many elements as the bound says", () => {
    const ids = Array.from({ length: LIMITS.resourcesPerCall }, (_, at) => `${at}`);
    const call = startStory(POLICY).done("delete_emails", { ids });
    expect(call.facts.exclusive).toHaveLength(LIMITS.resourcesPerCall);
  });

  test("that is not exclusive counts as one that may touch anything where the list is empty", () => {
    const call = startStory(POLICY).done("tag_emails", { ids: [] });
    expect(call.facts.resources).toBeNull();
  });
});

test("a read of several things is stale once one of them was written, and not before", () => {
  const story = startStory(POLICY);
  story.done("get_emails", { ids: ["a", "b"] });
  story.done("tag_emails", { ids: ["c", "d"] });
  expect(story.reason("get_emails", { ids: ["a", "b"] })).toBe("duplicate_call");
  story.done("tag_emails", { ids: ["d", "b"] });
  story.done("get_emails", { ids: ["a", "b"] });
});

test("a result names a resource for each element of a list in it", () => {
  const story = startStory(POLICY);
  story.done("make_all", { names: 2 }, JSON.stringify({ items: [{ id: "a" }, { id: "b" }] }));
  story.done("get_email", { id: "b" });
  expect(story.reason("get_email", { id: "b" })).toBe("duplicate_call");
  for (const id of ["a", "b"])
    expect(story.reason("make_one", { id })).toBe("side_effect_conflict");
  story.done("make_one", { id: "c" });
});

describe("canonical fields of elements", () => {
  const file = (path: string, content: string) => ({ path, content, mode: Math.random() });
  const push = (...files: readonly object[]) => ({ repo: "r", files });

  test("are compared element by element, in any order", () => {
    const story = startStory(POLICY);
    story.done("push_files", push(file("a", "1"), file("./b", "2")));
    expect(story.reason("push_files", push(file("b", "2"), file("a", "1")))).toBe("duplicate_call");
    expect(story.reason("push_files", push(file("a", "2"), file("b", "1")))).toBe(
      "side_effect_conflict",
    );
  });
});

test("templates and fields that no list can fill are problems of the policy", () => {
  const problem = (tool: object) => {
    try {
      startStory({ tool_schemas: { t: tool } });
      return "";
    } catch (error) {
      return String(error);
    }
  };
  const effect = (resource: string) => ({ effects: [{ resource, kind: "create" }] });
  expect(problem(effect("{a[0].b}"))).toContain("write files[].path, or to[]");
  expect(problem(effect("{a[].x}/{b[].y}"))).toContain("two lists");
  expect(problem({ canonical_fields: ["a[].b[].c"] })).toContain("a list within a list");
  expect(problem({ canonical_fields: ["a[*]"] })).toContain("write files[].path");
  expect(problem({ normalizers: { "a[1]": [{ name: "trim", arguments: [] }] } })).toContain(
    "write files[].path",
  );
});
