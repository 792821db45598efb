import { describe, expect, test } from "vitest";
import type { CallAllowed } from "../../../../services/core/events.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { sealingOf } from "../../../support/core/compile.ts";
import { HOUR, MINUTE, ofType, type Story, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  idempotency: { ttl_ms: HOUR },
  tool_schemas: {
    write: {},
    other: {},
    log: { repeatable: true },
    batch: { batchable: true },
    reboot: { input_schema: { type: "object", properties: {}, additionalProperties: false } },
    look: { read_only: true },
    ask: { risk_level: "HIGH" },
  },
};

const AFTER_WINDOW = 6 * MINUTE;

function goesOn(first: CallAllowed, again: CallAllowed, attempt: number): void {
  expect(again.execution).toEqual({ ...first.execution, attempt });
}

function isNew(again: CallAllowed): void {
  expect(again.execution).toMatchObject({ decisionId: again.decisionId, attempt: 1 });
}

describe("the same execution continues", () => {
  test("under the secret that it was opened with, whatever secret the gate uses by now", () => {
    const story = startStory(POLICY);
    const first = story.failed("write", {}, "503");
    story.under(POLICY, sealingOf("k2", "k1"));
    const again = story.failed("write", {}, "503");
    goesOn(first, again, 2);
    expect([first.keyId, again.keyId]).toEqual(["k1", "k1"]);
    expect(story.failed("write", {}, "503").keyId).toBe("k1");
    expect(story.allowed("other").keyId).toBe("k2");
  });

  test("but a new execution of the same call is under the secret in use", () => {
    const story = startStory(POLICY);
    const first = story.done("log");
    story.under(POLICY, sealingOf("k2", "k1"));
    const again = story.allowed("log");
    isNew(again);
    expect([first.keyId, again.keyId]).toEqual(["k1", "k2"]);
  });

  test("but never that of a read", () => {
    const story = startStory(POLICY);
    story.failed("look", {}, "503");
    isNew(story.allowed("look"));
    story.reported(story.allowed("look", { id: 1 }), { status: "not_executed" });
    isNew(story.allowed("look", { id: 1 }));
    story.reported(story.allowed("look", { id: 2 }), { status: "unknown" });
    isNew(story.allowed("look", { id: 2 }));
  });

  test("after a transient failure, attempt by attempt", () => {
    const story = startStory(POLICY);
    const first = story.failed("write", {}, "503");
    goesOn(first, story.failed("write", {}, "503"), 2);
    goesOn(first, story.allowed("write"), 3);
  });

  test("after a transient failure even if something else was written", () => {
    const story = startStory(POLICY);
    const first = story.failed("write", {}, "503");
    story.done("other");
    goesOn(first, story.allowed("write"), 2);
  });

  test("for a confirmed retry of a call that may have taken effect", () => {
    const story = startStory(POLICY);
    const first = story.failed("write");
    goesOn(first, story.allowed("write", {}, { confirmation: "yes" }), 2);
  });

  test("after a call that was not executed", () => {
    const story = startStory(POLICY);
    const first = story.allowed("write");
    story.reported(first, { status: "not_executed" });
    goesOn(first, story.allowed("write"), 2);
  });

  test("for a write repeated after its window", () => {
    const story = startStory(POLICY);
    const first = story.done("write");
    goesOn(first, story.after(AFTER_WINDOW).allowed("write"), 2);
  });

  test("from exactly the end of the window to exactly the end of its own time", () => {
    const story = startStory(POLICY);
    const first = story.done("write");
    goesOn(first, story.after(5 * MINUTE).done("write", {}, "again"), 2);
    const last = story.after(HOUR - 5 * MINUTE - 1).allowed("write");
    goesOn(first, last, 3);
    story.reported(last, { output: "once more" });
    isNew(story.after(5 * MINUTE).allowed("write"));
  });

  test("after an unknown outcome, where that reason is not enforced", () => {
    const story = startStory({ ...POLICY, checks: { outcome_unknown: "warn" } });
    const first = story.allowed("write");
    story.reported(first, { status: "unknown" });
    goesOn(first, story.allowed("write"), 2);
  });
});

describe("a new execution opens", () => {
  test.each<[string, (story: Story) => CallAllowed]>([
    [
      "after a failure that had no effect",
      (story) => {
        story.reported(story.allowed("write"), { status: "failed", effect: "none" });
        return story.allowed("write");
      },
    ],
    [
      "for a confirmed repeat",
      (story) => {
        story.done("write");
        return story.allowed("write", {}, { confirmation: "yes" });
      },
    ],
    [
      "for an approved repeat",
      (story) => {
        story.reported(ofType(story.approved(story.held("ask")), "allowed"), { output: "once" });
        return ofType(story.after(AFTER_WINDOW).approved(story.held("ask")), "allowed");
      },
    ],
    [
      "when something changed",
      (story) => {
        story.done("write");
        story.done("other");
        return story.after(AFTER_WINDOW).allowed("write");
      },
    ],
    [
      "when the old one is over",
      (story) => {
        story.failed("write", {}, "503");
        return story.after(HOUR).allowed("write");
      },
    ],
    [
      "for a repeatable tool",
      (story) => {
        story.done("log");
        return story.after(AFTER_WINDOW).allowed("log");
      },
    ],
    [
      "for a tool without parameters",
      (story) => {
        story.done("reboot");
        return story.after(AFTER_WINDOW).allowed("reboot");
      },
    ],
    [
      "for a parallel call of a batch",
      (story) => {
        story.allowed("batch", {}, { step: "s" });
        return story.allowed("batch", {}, { step: "s" });
      },
    ],
    [
      "for every read",
      (story) => {
        story.failed("look", {}, "503");
        return story.allowed("look");
      },
    ],
    [
      "for a repeat in its window, where duplicates are not enforced",
      (story) => {
        story.under({ ...POLICY, preset: "observe" }).done("write");
        return story.allowed("write");
      },
    ],
  ])("%s", (_name, repeat) => {
    isNew(repeat(startStory(POLICY)));
  });
});
