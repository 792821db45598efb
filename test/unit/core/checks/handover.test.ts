import { describe, expect, test } from "vitest";
import type { GateEvent } from "../../../../services/core/events.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { type Story, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  tool_schemas: {
    plan: { read_only: true, volatile: true },
    research: { read_only: true, volatile: true },
    act: {},
    book: { effects: [{ resource: "trip/{task}", kind: "create" }] },
    get: { read_only: true, volatile: true },
  },
};

type Fields = Readonly<Record<string, unknown>>;

function warnings(event: GateEvent): readonly string[] {
  return event.type === "allowed"
    ? event.notices.warnings.map(({ reason }) => reason)
    : [event.type];
}

/** Calls of the tools in turn, each with a text and an output of its own. */
function passOn(story: Story, tools: readonly string[], count: number, args = sentence): Story {
  for (let n = 0; n < count; n += 1) {
    story.done(tools[n % tools.length] as string, args(n), `answer ${n}`);
  }
  return story;
}

const WORDS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];
const sentence = (n: number): Fields => ({
  task: `look at the ${WORDS[n % 8]} thing ${WORDS[n >> 3]}`,
});

describe("a task that tools pass on to one another", () => {
  test.each([
    ["two", ["plan", "research"]],
    ["three, one of which writes without a declared effect", ["plan", "research", "act"]],
  ])(
    "is warned of as the fourth round of %s is complete, and refused in strict",
    (_what, tools) => {
      const count = 4 * tools.length - 1;
      const last = tools.at(-1) as string;
      const before = passOn(startStory(POLICY), tools, count - 1);
      expect(warnings(before.done(tools.at(-2) as string, sentence(60), "other"))).toEqual([]);
      const story = passOn(startStory(POLICY), tools, count);
      expect(warnings(story.allowed(last, sentence(61)))).toEqual(["loop_rotation"]);
      const strict = startStory({ ...POLICY, checks: { loop_rotation: "enforce" } });
      const { refusal } = passOn(strict, tools, count).refused(last, sentence(61));
      expect(refusal.message).toContain("4 rounds of calls that pass one task on");
    },
  );

  test.each<readonly [string, readonly string[], (n: number) => Fields]>([
    [
      "work on one thing after another",
      ["get", "act"],
      (n) => ({ id: `C-${n}`, note: "set it up" }),
    ],
    ["calls without sentences", ["get", "act"], (n) => ({ path: `src/${WORDS[n % 8]}.ts`, n })],
    ["a tool with a declared effect", ["plan", "book"], sentence],
    ["a tool that is called twice", ["plan", "plan", "act"], sentence],
    ["four tools", ["plan", "research", "act", "get"], sentence],
  ])("does not fire for %s", (_what, tools, args) => {
    const story = startStory(POLICY);
    for (let n = 0; n < 24; n += 1) {
      const call = story.done(tools[n % tools.length] as string, args(n), `answer ${n}`);
      expect(warnings(call)).not.toContain("loop_rotation");
    }
  });

  test("begins anew with a turn", () => {
    const story = passOn(startStory(POLICY), ["plan", "research"], 7).turn("2");
    expect(warnings(story.allowed("research", sentence(61)))).toEqual([]);
  });
});
