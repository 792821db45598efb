// What is remembered of an action over turns and unrelated work.
import { describe, expect, test } from "vitest";
import type { GateEvent } from "../../../../services/core/events.ts";
import { LIMITS } from "../../../../services/core/limits.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { HOUR, MINUTE, type Story, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  limits: { recent_calls: 16 },
  tool_schemas: {
    look: { read_only: true, cache_ttl_s: 0 },
    note: { effects: [{ resource: "note/{id}", kind: "update" }] },
    pay: { effects: [{ resource: "payee/{to}", kind: "custom" }] },
    send: {},
  },
};

function warnings(event: GateEvent): readonly string[] {
  return event.type === "allowed"
    ? event.notices.warnings.map(({ reason }) => reason)
    : [event.type];
}

function workElsewhere(story: Story, calls = 40): void {
  for (let n = 0; n < calls; n += 1) {
    story.done("look", { other: `${story.state?.n} ${n}` }, `${story.state?.n} ${n}`);
  }
}

describe("unrelated work hides no repeats", () => {
  test("of a call that fails once in each of ten turns", () => {
    const story = startStory(POLICY);
    const outcomes: string[] = [];
    for (let turn = 1; turn <= 10; turn += 1) {
      story.turn(`${turn}`);
      const event = story.proposed("look", { id: "broken" });
      outcomes.push(event.type);
      if (event.type === "allowed") {
        const error = { code: "E1", message: "E1", retryable: null };
        story.reported(event, { status: "failed", error });
      }
      workElsewhere(story);
    }
    expect(outcomes).toEqual([...Array(5).fill("allowed"), ...Array(5).fill("refused")]);
    story.after(5 * MINUTE).allowed("look", { id: "broken" });
  });

  test("of a write that comes back after it", () => {
    const story = startStory(POLICY);
    story.done("send", { to: "ann" }, "sent");
    for (let n = 0; n < 40; n += 1) story.done("look", { n }, `${n}`);
    expect(story.reason("send", { to: "ann" })).toBe("duplicate_call");
  });

  test("until as many other actions were remembered as fit", () => {
    const story = startStory(POLICY);
    for (const _ of [1, 2, 3]) story.failed("look", { id: "broken" });
    workElsewhere(story, LIMITS.actionCalls - 3);
    expect(story.reason("look", { id: "broken" })).toBe("failure_streak");
    workElsewhere(story, 1);
    story.allowed("look", { id: "broken" });
    expect(story.state?.actions.bytes).toBeLessThanOrEqual(LIMITS.actionCalls);
  });
});

describe("slow repeats", () => {
  test("of reads are a warning from the eighth on, over turns, where pauses stay below ten minutes", () => {
    const every = (minutes: number): readonly (readonly string[])[] => {
      const story = startStory(POLICY);
      return Array.from({ length: 9 }, (_, turn) => {
        story.after(minutes * MINUTE).turn(`${turn}`);
        return warnings(story.done("look", { id: 1 }, "idle"));
      });
    };
    expect(every(9)).toEqual([...Array(7).fill([]), ["loop_repeat"], ["loop_repeat"]]);
    expect(every(10)).toEqual(Array(9).fill([]));
  });

  test("of failures run after each pause, with a warning from the ninth on", () => {
    const story = startStory(POLICY);
    for (let day = 1; day <= 9; day += 1) {
      story.after(HOUR).turn(`${day}`);
      const event = story.failed("look", { id: "broken" });
      expect([day, warnings(event)]).toEqual([day, day > 8 ? ["failure_streak"] : []]);
    }
  });
});

describe("a write that comes back after another one of its tool", () => {
  const pay = (story: Story, to: string): GateEvent => story.done("pay", { to }, "paid");

  test("is refused where it declares what it changes, as the other changed something else", () => {
    const story = startStory(POLICY);
    pay(story, "ann");
    pay(story, "bob");
    expect(story.reason("pay", { to: "ann" })).toBe("duplicate_call");
  });

  test("runs with a warning where it does not", () => {
    const story = startStory(POLICY);
    story.done("send", { to: "ann" }, "sent");
    story.done("send", { to: "bob" }, "sent");
    expect(warnings(story.done("send", { to: "ann" }, "sent"))).toEqual(["loop_repeat"]);
  });

  test("has no warning after a write of another tool, an hour, or with a confirmation", () => {
    const begin = (): Story => {
      const story = startStory(POLICY);
      story.done("send", { to: "ann" }, "sent");
      story.done("send", { to: "bob" }, "sent");
      return story;
    };
    const mixed = begin();
    mixed.done("note", { id: 1 }, "noted");
    expect(warnings(mixed.allowed("send", { to: "ann" }))).toEqual([]);
    expect(warnings(begin().after(HOUR).allowed("send", { to: "ann" }))).toEqual([]);
    const confirmed = begin().allowed("send", { to: "ann" }, { confirmation: "yes" });
    expect(warnings(confirmed)).toEqual([]);
  });
});
