import { describe, expect, test } from "vitest";
import type { GateEvent } from "../../../../services/core/events.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { type Story, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  tool_schemas: {
    look: { read_only: true },
    quiet: { read_only: true, empty_output: true },
    poll: { polling: {} },
    write: {},
    fail: {},
  },
};

function warnings(event: GateEvent): readonly string[] {
  return event.type === "allowed"
    ? event.notices.warnings.map(({ reason }) => reason)
    : [event.type];
}

function lookAt(story: Story, numbers: readonly number[], output = "nothing"): void {
  for (const n of numbers) story.done("look", { n }, output);
}

describe("loop_no_progress", () => {
  test("warns from the call on that follows three different calls with one output", () => {
    const story = startStory(POLICY);
    lookAt(story, [1, 2]);
    expect(warnings(story.allowed("look", { n: 3 }))).toEqual([]);
    const other = startStory(POLICY);
    lookAt(other, [1, 2, 3]);
    expect(warnings(other.allowed("look", { n: 4 }))).toEqual(["loop_no_progress"]);
  });

  test.each<readonly [string, (story: Story) => void]>([
    ["a new output", (story) => lookAt(story, [9], "something")],
    ["a write", (story) => story.done("write", {}, "written")],
    ["a new turn", (story) => story.turn("2")],
  ])("counts from zero after %s", (_what, happens) => {
    const story = startStory(POLICY);
    lookAt(story, [1, 2, 3]);
    happens(story);
    expect(warnings(story.allowed("look", { n: 4 }))).toEqual([]);
  });

  test("does not count outputs that are declared empty, nor repeats of one call", () => {
    const story = startStory(POLICY);
    for (const n of [1, 2, 3]) story.done("quiet", { n }, "");
    expect(warnings(story.allowed("quiet", { n: 4 }))).toEqual([]);
    for (const n of [1, 1, 1, 1]) story.done("poll", { n }, "queued");
    expect(warnings(story.allowed("poll", { n: 1 }))).toEqual([]);
  });

  test("ignores calls of other tools in between", () => {
    const story = startStory(POLICY);
    for (const n of [1, 2, 3]) {
      lookAt(story, [n]);
      story.done("quiet", { n }, "something");
    }
    expect(warnings(story.allowed("look", { n: 4 }))).toEqual(["loop_no_progress"]);
  });

  test("takes its threshold from the policy, and applies without declarations too", () => {
    const story = startStory({ tool_deduplication: { no_progress_threshold: 2 } });
    for (const n of [1, 2]) story.done("git_log", { n }, "seven commits");
    expect(warnings(story.allowed("git_log", { n: 3 }))).toEqual(["loop_no_progress"]);
  });

  test("is a strike of the tool where it is enforced", () => {
    const story = startStory({ ...POLICY, checks: { loop_no_progress: "enforce" } });
    lookAt(story, [1, 2, 3]);
    expect(story.refused("look", { n: 4 }).strike).toMatchObject({
      key: "tool:look#agent",
      count: 1,
    });
    expect(story.refused("look", { n: 5 }).strike).toMatchObject({
      key: "tool:look#agent",
      count: 2,
    });
  });
});

describe("loop_rotation", () => {
  const SHORT: PolicyDocument = {
    ...POLICY,
    deduplication: { cache_ttl_ms: 0 },
    loops: { rotation: { calls: 8, keys: 3 } },
    checks: { loop_cycle: "off", loop_repeat: "off", loop_no_progress: "off" },
  };
  const order = [1, 2, 3, 1, 3, 2, 1, 2];

  test("warns of many calls of few actions whose latter half brought nothing new", () => {
    const story = startStory(SHORT);
    lookAt(story, order);
    expect(warnings(story.allowed("look", { n: 3 }))).toEqual(["loop_rotation"]);
  });

  test("does not warn with one call less, one action more, or after something new", () => {
    const fewer = startStory(SHORT);
    lookAt(fewer, order.slice(1));
    expect(warnings(fewer.allowed("look", { n: 3 }))).toEqual([]);
    const another = startStory(SHORT);
    lookAt(another, order);
    expect(warnings(another.allowed("look", { n: 4 }))).toEqual([]);
    const news = startStory(SHORT);
    lookAt(news, order.slice(0, 7));
    lookAt(news, [2], "news");
    expect(warnings(news.allowed("look", { n: 3 }))).toEqual([]);
  });
});

describe("loop_rotation within a turn", () => {
  const ROTATION: PolicyDocument = {
    tool_schemas: { look: { read_only: true }, log: { repeatable: true } },
    deduplication: { cache_ttl_ms: 0 },
    loops: { rotation: { calls: 8, keys: 3 } },
    checks: { loop_cycle: "off", loop_repeat: "off", loop_no_progress: "off" },
  };
  const order = [1, 2, 3, 1, 3, 2, 1, 2];

  test("ignores calls of an earlier turn", () => {
    const story = startStory(ROTATION);
    lookAt(story, order);
    expect(warnings(story.turn("2").allowed("look", { n: 3 }))).toEqual([]);
  });

  test("counts writes that were all made before", () => {
    const story = startStory(ROTATION);
    for (const n of order) story.done("log", { n }, "logged");
    expect(warnings(story.allowed("log", { n: 3 }))).toEqual(["loop_rotation"]);
  });
});

describe("failure_run", () => {
  test("warns after five failures of one tool with one error", () => {
    const story = startStory(POLICY);
    for (const n of [1, 2, 3, 4]) story.failed("fail", { n });
    expect(warnings(story.failed("fail", { n: 5 }))).toEqual([]);
    expect(warnings(story.allowed("fail", { n: 6 }))).toEqual(["failure_run"]);
  });

  test("warns after eight failures in a row, whatever the error", () => {
    const story = startStory(POLICY);
    for (let n = 0; n < 7; n++) story.failed(n % 2 === 0 ? "fail" : "write", { n }, `E${n}`);
    expect(warnings(story.failed("look", { n: 8 }, "E8"))).toEqual([]);
    expect(warnings(story.allowed("look", { n: 9 }))).toEqual(["failure_run"]);
  });

  test("ignores calls of other tools in between, for one tool", () => {
    const story = startStory(POLICY);
    for (const n of [1, 2, 3, 4, 5]) {
      story.failed("fail", { n });
      story.done("look", { n }, `page ${n}`);
    }
    expect(warnings(story.allowed("fail", { n: 6 }))).toEqual(["failure_run"]);
  });

  test("ends with the turn", () => {
    const story = startStory(POLICY);
    for (const n of [1, 2, 3, 4, 5]) story.failed("fail", { n });
    expect(warnings(story.turn("2").allowed("fail", { n: 6 }))).toEqual([]);
  });

  test("ends with a success, for one tool and for all", () => {
    const story = startStory(POLICY);
    for (const n of [1, 2, 3, 4, 5]) story.failed("fail", { n });
    story.done("fail", { n: 6 });
    expect(warnings(story.allowed("fail", { n: 7 }))).toEqual([]);
  });
});
