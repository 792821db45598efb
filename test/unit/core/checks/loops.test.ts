import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { HOUR, MINUTE, ofType, SECOND, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  deduplication: { window_ms: SECOND, cache_ttl_ms: SECOND },
  tool_schemas: {
    look: { read_only: true },
    write: {},
    other: {},
    log: { repeatable: true },
    void: { repeatable: true, empty_output: true },
    poll: { polling: { min_interval_ms: 500, max_calls: 3 } },
    often: { read_only: true, frequency: { count: 2, windowMs: MINUTE } },
    search: { read_only: true, volatile_output: ["$.ms"] },
  },
};

const ORDERS: PolicyDocument["tool_schemas"] = {
  get: { reads: ["order/{id}"] },
  set: { effects: [{ resource: "order/{id}", kind: "update" }] },
  mark: { effects: [{ resource: "order/{id}", kind: "update" }] },
};
const ORDER = { id: "7" };

describe("loop_repeat", () => {
  test("refuses the third identical read of a turn with one output", () => {
    const story = startStory(POLICY);
    for (const _ of [1, 2]) story.after(SECOND).done("look", {}, "same");
    const { refusal, strike } = story.after(SECOND).refused("look");
    expect(refusal).toMatchObject({
      reason: "loop_repeat",
      rule: "deduplication.loop_threshold",
      disposition: "change_approach",
      previousResult: { inline: "same" },
    });
    expect(strike?.count).toBe(1);
  });

  test("answers repeated reads from memory, and is a loop at the eighth, which stops nothing", () => {
    const story = startStory({ ...POLICY, deduplication: { cache_ttl_ms: MINUTE } });
    story.done("look", {}, "same");
    for (let n = 2; n <= 7; n += 1) {
      expect(story.refused("look")).toMatchObject({
        refusal: { reason: "duplicate_call", level: 0 },
        strike: null,
      });
    }
    const levels = [8, 9, 10, 11, 12].map(() => {
      const { refusal, raised } = story.refused("look");
      expect(refusal).toMatchObject({
        reason: "loop_repeat",
        rule: "deduplication.loop_threshold.any_pace",
        previousResult: { inline: "same" },
      });
      return [refusal.level, raised];
    });
    expect(levels.map(([level]) => level)).toEqual([1, 2, 2, 2, 2]);
    expect(levels.every(([, raised]) => raised === null)).toBe(true);
    story.allowed("look", { n: 1 });
  });

  test("takes the parallel calls of a batchable tool for one, even if the first have returned", () => {
    const story = startStory({ tool_schemas: { add: { batchable: true } } });
    const add = (step: string) => story.proposed("add", { row: 1 }, { step });
    for (let row = 0; row < 5; row += 1) {
      story.reported(ofType(add("a"), "allowed"), { output: "added" });
    }
    expect(ofType(add("b"), "refused").refusal.reason).toBe("duplicate_call");
  });

  test("counts calls that are not in a row", () => {
    const story = startStory(POLICY);
    for (const n of [1, 2]) {
      story.after(SECOND).done("look", {}, "same");
      story.done("look", { n }, `other ${n}`);
    }
    expect(story.after(SECOND).reason("look")).toBe("loop_repeat");
  });

  test("compares outputs without the fields that are declared volatile", () => {
    const story = startStory(POLICY);
    story.done("look", {}, "a");
    story.after(SECOND).done("look", {}, "b");
    story.after(SECOND).allowed("look");
    for (const ms of [1, 2]) story.after(SECOND).done("search", {}, `{"hits":[],"ms":${ms}}`);
    expect(story.after(SECOND).reason("search")).toBe("loop_repeat");
  });

  test("does not take a missing output for an equal one", () => {
    const story = startStory(POLICY);
    for (const _ of [1, 2, 3]) story.after(SECOND).done("look", {}, null);
  });

  test("does not fire for outputs that are declared empty", () => {
    const story = startStory(POLICY);
    for (const _ of [1, 2, 3]) story.done("void", {}, "");
  });

  test("counts reads from zero in a new turn, but not writes, which would repeat their effect", () => {
    const story = startStory(POLICY);
    for (const _ of [1, 2]) story.after(SECOND).done("look");
    for (const _ of [1, 2]) story.done("log", {}, "logged");
    story.turn("2").after(HOUR - 1);
    expect(story.reason("log")).toBe("loop_repeat");
    story.allowed("look");
  });

  test("counts writes from zero in a new turn where their identity ends with it", () => {
    const story = startStory({ ...POLICY, deduplication: { scope: "turn" } });
    for (const _ of [1, 2]) story.done("log", {}, "logged");
    story.turn("2").allowed("log");
  });

  test("counts from zero after a change", () => {
    const story = startStory(POLICY);
    for (const _ of [1, 2]) story.after(SECOND).done("look");
    story.done("write");
    story.after(SECOND).allowed("look");
  });

  test("counts a read from zero after a change of its resource, however long ago", () => {
    const story = startStory({ idempotency: { ttl_ms: 10 * SECOND }, tool_schemas: ORDERS });
    for (const _ of [1, 2]) {
      story.after(10 * MINUTE).done("set", ORDER);
      story.done("get", ORDER, "same");
    }
    story.after(HOUR).done("get", ORDER, "same");
    story.after(MINUTE - 1).refused("get", ORDER);
    story.after(1).done("get", ORDER, "same");
    const { warnings } = story.after(MINUTE).allowed("get", ORDER).notices;
    expect(warnings).toEqual([]);
  });

  test("counts a write from zero after a change of its resource", () => {
    const story = startStory({ tool_schemas: ORDERS });
    for (const tool of ["set", "mark", "set", "mark"]) story.done(tool, ORDER, "ok");
    for (const n of [1, 2, 3]) story.after(20 * HOUR).done("get", { id: `${n}` }, `${n}`);
    story.done("set", ORDER, "ok");
  });

  test("ignores calls that were not executed", () => {
    const story = startStory(POLICY);
    story.done("log", {}, "same");
    story.reported(story.allowed("log"), { status: "not_executed" });
    story.done("log", {}, "same");
    expect(story.reason("log")).toBe("loop_repeat");
  });

  test("counts calls with any output under any_output", () => {
    const story = startStory({
      ...POLICY,
      deduplication: { loop_threshold: { same_output: "off", any_output: 3 } },
    });
    story.done("log", {}, "a");
    story.failed("log");
    expect(story.reason("log")).toBe("loop_repeat");
  });

  test("can be switched off", () => {
    const story = startStory({
      ...POLICY,
      deduplication: { loop_threshold: { same_output: "off" } },
    });
    for (const _ of [1, 2, 3, 4]) story.done("log", {}, "same");
  });

  test("adds a note to the answer from memory in mode warn", () => {
    const story = startStory({
      ...POLICY,
      deduplication: { loop_threshold: { any_pace: 3 } },
      checks: { loop_repeat: "warn" },
    });
    story.done("look");
    story.refused("look");
    const {
      refusal,
      notices: { warnings },
    } = story.refused("look");
    expect([refusal.reason, warnings[0]?.reason]).toEqual(["duplicate_call", "loop_repeat"]);
  });
});

describe("loop_repeat and time", () => {
  const TIMED: PolicyDocument = {
    tool_schemas: {
      look: { read_only: true },
      watch: { volatile: true },
      log: { repeatable: true },
    },
  };

  test.each([
    ["watch", 10 * SECOND],
    ["look", MINUTE],
    ["log", HOUR],
  ])("is none for %s after a pause in which the outcome could have changed", (tool, pauseMs) => {
    const story = startStory(TIMED);
    for (let n = 0; n < 6; n += 1) story.after(pauseMs).done(tool, {}, "same");
    if (tool !== "look") story.after(pauseMs - 1).done(tool, {}, "same");
    story.after(pauseMs - 1).refused(tool);
  });

  test("does not refuse reads of something that changes while the pauses double", () => {
    const story = startStory(TIMED);
    for (const seconds of [0, 1, 2, 4, 8]) story.after(seconds * SECOND).done("watch", {}, "same");
    expect(story.after(9 * SECOND).reason("watch")).toBe("loop_repeat");
  });

  test("counts two calls at one time for no growing pause", () => {
    const story = startStory(TIMED);
    for (const _ of [1, 2]) story.done("watch", {}, "same");
    expect(story.reason("watch")).toBe("loop_repeat");
  });

  test("counts the calls behind a long pause apart", () => {
    const story = startStory(TIMED);
    for (const _ of [1, 2]) story.done("log", {}, "same");
    story.after(HOUR).done("log", {}, "same");
    story.done("log", {}, "same");
    expect(story.reason("log")).toBe("loop_repeat");
  });

  test("advises of the eighth equal call, however far apart, and does not refuse it", () => {
    const story = startStory(TIMED);
    for (let n = 1; n <= 9; n += 1) {
      const { notices } = story.after(2 * HOUR).done("look", {}, "same");
      expect([n, notices.warnings.map(({ reason }) => reason)]).toEqual([
        n,
        n < 8 ? [] : ["loop_repeat"],
      ]);
    }
  });

  test("takes the published window for the pause where the policy declares no tool", () => {
    const story = startStory({ tools: { dedupe_window_s: 60, cache_ttl_s: 30 } });
    for (let n = 0; n < 4; n += 1) {
      story.done("search", {}, "same");
      story.after(MINUTE - 1).refused("search");
      story.after(1);
    }
  });
});

describe("a look that goes on showing one thing", () => {
  const WATCH: PolicyDocument = {
    tool_schemas: {
      watch: { read_only: true, volatile: true },
      job: { polling: {} },
      paced: { polling: { min_interval_ms: 10 * SECOND } },
    },
  };

  const look = (tool: string, count = 7) => {
    const story = startStory(WATCH);
    for (let n = 0; n < count; n += 1) story.after(10 * SECOND).done(tool, {}, "waiting");
    return story.after(10 * SECOND);
  };

  test("waits from the eighth on, at even pauses, for longer and longer", () => {
    const story = look("watch");
    for (const waitS of [60, 120, 240]) {
      const { refusal } = story.refused("watch");
      expect([refusal.reason, refusal.rule]).toEqual([
        "loop_repeat",
        "deduplication.loop_threshold.any_pace",
      ]);
      expect(refusal.resolution).toMatchObject({
        type: "retry_after",
        retryAfterMs: (waitS - 10) * SECOND,
      });
      story.after((waitS - 10) * SECOND).done("watch", {}, "waiting");
      story.after(10 * SECOND);
    }
  });

  test("waits as long where it is declared as polling without a pause, and counts no strike", () => {
    const { refusal, strike } = look("job").refused("job");
    expect([refusal.reason, refusal.rule, strike]).toEqual([
      "tool_frequency",
      "tool_schemas.job.polling",
      null,
    ]);
    look("paced", 20).allowed("paced");
  });

  test("runs at once where what it shows has changed, or the turn is new", () => {
    const moved = startStory(WATCH);
    for (let n = 0; n < 7; n += 1) moved.after(10 * SECOND).done("watch", {}, "waiting");
    moved.after(MINUTE).done("watch", {}, "arrived");
    moved.after(10 * SECOND).allowed("watch");
    look("watch").turn("2").allowed("watch");
  });
});

describe("a polling tool", () => {
  test("is refused before its interval has passed, with the time to wait", () => {
    const story = startStory(POLICY);
    story.done("poll", {}, "running");
    const { refusal, strike } = story.after(400).refused("poll");
    expect(refusal).toMatchObject({
      reason: "tool_frequency",
      rule: "tool_schemas.poll.polling.min_interval_ms",
      resolution: { type: "retry_after", retryAfterMs: 100 },
    });
    expect(strike).toBeNull();
    story.after(100).allowed("poll");
  });

  test("is refused after as many calls with one output as the policy says", () => {
    const story = startStory(POLICY);
    for (const _ of [1, 2, 3]) story.after(SECOND).done("poll", {}, "running");
    expect(story.after(SECOND).refused("poll").refusal.rule).toBe(
      "tool_schemas.poll.polling.max_calls",
    );
    story.turn("2").done("poll", {}, "running");
    story.after(SECOND).allowed("poll");
  });

  test("may go on where outputs differ, a call failed, or something changed", () => {
    const story = startStory(POLICY);
    for (const n of [1, 2, 3, 4]) story.after(SECOND).done("poll", {}, `${n} %`);
    story.after(SECOND).failed("poll");
    for (const _ of [1, 2, 3]) story.after(SECOND).done("poll", {}, "running");
    story.done("write");
    story.after(SECOND).allowed("poll");
  });

  test("does not count a poll that was not executed", () => {
    const story = startStory(POLICY);
    for (const _ of [1, 2]) story.after(SECOND).done("poll", {}, "running");
    story.reported(story.after(SECOND).allowed("poll"), { status: "not_executed" });
    story.after(SECOND).done("poll", {}, "running");
    expect(story.after(SECOND).reason("poll")).toBe("loop_repeat");
  });
});

describe("tool_frequency", () => {
  test("refuses the call over the limit of a sliding window, to the millisecond", () => {
    const story = startStory(POLICY);
    story.done("often", { n: 1 });
    story.after(10 * SECOND).done("often", { n: 2 });
    const { refusal } = story.after(40 * SECOND).refused("often", { n: 3 });
    expect(refusal).toMatchObject({
      reason: "tool_frequency",
      rule: "tool_schemas.often.frequency",
      resolution: { type: "retry_after", retryAfterMs: 10 * SECOND },
    });
    expect(story.after(10 * SECOND - 1).reason("often", { n: 3 })).toBe("tool_frequency");
    story.after(1).allowed("often", { n: 3 });
  });

  test("does not prevent an answer from memory", () => {
    const story = startStory(POLICY);
    story.done("often", { n: 1 });
    story.done("often", { n: 2 });
    expect(story.reason("often", { n: 2 })).toBe("duplicate_call");
  });
});

describe("failure_streak", () => {
  test("refuses an identical call that failed three times with one error", () => {
    const story = startStory(POLICY);
    for (const _ of [1, 2, 3]) story.failed("look");
    const { refusal, strike } = story.refused("look");
    expect(refusal).toMatchObject({
      reason: "failure_streak",
      rule: "loops.failure_streak",
      duplicate: false,
      previousCall: { status: "failed" },
    });
    expect(refusal.message).toContain('It failed with: "E1"');
    expect(strike?.count).toBe(1);
  });

  test("allows five failures where the error is transient", () => {
    const story = startStory(POLICY);
    for (const _ of [1, 2, 3, 4, 5]) story.failed("write", {}, "503");
    expect(story.reason("write")).toBe("failure_streak");
  });

  test("counts an output that reads as an error as a failure", () => {
    const story = startStory(POLICY);
    for (const _ of [1, 2, 3]) {
      story.reported(story.allowed("look"), { output: "Error: no such order", basis: "text" });
    }
    expect(story.reason("look")).toBe("failure_streak");
  });

  test("counts only failures with one error", () => {
    const story = startStory(POLICY);
    for (const code of ["E1", "E2", "E1"]) story.failed("look", {}, code);
    story.allowed("look");
  });

  test("ends with a success, a new turn, or any write", () => {
    const story = startStory(POLICY);
    for (const _ of [1, 2, 3]) story.failed("look", { n: 1 });
    for (const _ of [1, 2, 3]) story.failed("look", { n: 2 });
    story.done("write");
    story.done("look", { n: 1 });
    story.after(SECOND).failed("look", { n: 1 });
    story.after(SECOND).allowed("look", { n: 1 });
    story.turn("2").allowed("look", { n: 2 });
  });

  test("ignores calls that were not executed", () => {
    const story = startStory(POLICY);
    for (const _ of [1, 2]) story.failed("look");
    story.reported(story.allowed("look"), { status: "not_executed" });
    story.failed("look");
    expect(story.reason("look")).toBe("failure_streak");
  });

  test("takes its thresholds from the policy", () => {
    const story = startStory({ ...POLICY, loops: { failure_streak: { same: 1, transient: 2 } } });
    story.failed("look", { n: 1 });
    expect(story.reason("look", { n: 1 })).toBe("failure_streak");
    story.failed("look", { n: 2 }, "503");
    story.failed("look", { n: 2 }, "503");
    expect(story.reason("look", { n: 2 })).toBe("failure_streak");
  });
});

describe("a write of which each call is meant", () => {
  const POLICY: PolicyDocument = {
    tool_schemas: { plus: { repeatable: true }, look: { read_only: true, volatile: true } },
  };

  test("runs again and again while a read after it shows a change, whatever it answers", () => {
    const story = startStory(POLICY);
    story.done("look", {}, "quantity 1");
    for (let quantity = 2; quantity < 9; quantity += 1) {
      story.done("plus", {}, "ok");
      story.done("look", {}, `quantity ${quantity}`);
    }
  });

  test("is a repeat where the read shows what it showed before, or was made for the first time", () => {
    const story = startStory(POLICY);
    for (let n = 0; n < 2; n += 1) {
      story.done("plus", {}, "ok");
      story.done("look", {}, "quantity 1");
    }
    expect(story.reason("plus")).toBe("loop_repeat");
    story.done("look", { of: "another cart" }, "quantity 7");
    expect(story.reason("plus")).toBe("loop_repeat");
  });

  test("is a repeat where the change was read before the latest call", () => {
    const story = startStory(POLICY);
    story.done("look", {}, "quantity 1");
    story.done("plus", {}, "ok");
    story.done("look", {}, "quantity 2");
    story.done("plus", {}, "ok");
    expect(story.reason("plus")).toBe("loop_repeat");
  });
});
