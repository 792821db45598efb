// Effects on a thing that another call made (`of`): equal things are one for the effect, whatever their ids.
import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { restoreState, snapshotState } from "../../../../services/core/state/snapshot.ts";
import { MINUTE, type Story, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  tool_schemas: {
    create_draft: {
      canonical_fields: ["to", "body"],
      effects: [{ resource: "draft/{result.id}", kind: "create" }],
    },
    edit_draft: { effects: [{ resource: "draft/{id}", kind: "update" }] },
    delete_draft: { effects: [{ resource: "draft/{id}", kind: "delete" }] },
    send_draft: {
      effects: [{ resource: "draft/{id}/sending", kind: "send", of: "create_draft" }],
    },
  },
};

const HELLO = { to: "ann", body: "Hello" };

function draft(story: Story, id: string, args: object = HELLO): void {
  story.after(20 * MINUTE);
  story.done("create_draft", { ...args }, JSON.stringify({ id }));
}

function sentOne(): Story {
  const story = startStory(POLICY);
  draft(story, "d1");
  story.done("send_draft", { id: "d1" });
  return story;
}

describe("the sending of a draft", () => {
  test("conflicts with that of an equal draft, and the refusal says which call made it", () => {
    const story = sentOne();
    draft(story, "d2", { ...HELLO, note: "not compared" });
    const { refusal } = story.refused("send_draft", { id: "d2" });
    expect(refusal.reason).toBe("side_effect_conflict");
    expect(refusal.message).toContain("what an equal call of `create_draft` made");
    expect(refusal.conflict).toEqual({
      resource: "draft/d2/sending",
      path: ["send_draft", "draft/d2/sending", "send_draft"],
    });
  });

  test("runs where the draft says something else, or was changed since it was made", () => {
    const story = sentOne();
    draft(story, "d2", { ...HELLO, body: "Good bye" });
    story.done("send_draft", { id: "d2" });
    draft(story, "d3");
    story.done("edit_draft", { id: "d3", body: "Hello again" });
    story.done("send_draft", { id: "d3" });
  });

  test("is refused by its id alone where no call of this conversation made the draft", () => {
    const story = sentOne();
    story.done("send_draft", { id: "d9" });
    story.after(20 * MINUTE);
    expect(story.reason("send_draft", { id: "d9" })).toBe("side_effect_conflict");
    story.allowed("send_draft", { id: "d8" });
  });

  test("still conflicts with itself once the draft is deleted", () => {
    const story = startStory(POLICY);
    draft(story, "d1");
    const call = story.allowed("send_draft", { id: "d1" });
    story.reported(call, { status: "unknown" });
    expect(story.reason("delete_draft", { id: "d1" })).toBe("side_effect_conflict");
  });

  test("runs again once the first one certainly did not happen", () => {
    const story = startStory(POLICY);
    draft(story, "d1");
    const call = story.allowed("send_draft", { id: "d1" });
    story.reported(call, { status: "not_executed" });
    draft(story, "d2");
    story.done("send_draft", { id: "d2" });
    expect(story.reason("send_draft", { id: "d1" })).toBe("side_effect_conflict");
  });

  test("conflicts after a restart, too", () => {
    const story = sentOne();
    draft(story, "d2");
    story.state = restoreState(snapshotState(story.state as NonNullable<typeof story.state>));
    expect(story.reason("send_draft", { id: "d2" })).toBe("side_effect_conflict");
  });
});
