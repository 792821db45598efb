import { describe, expect, test } from "vitest";
import type { GateEvent } from "../../../../services/core/events.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { HOUR, MINUTE, type Story, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  tool_schemas: {
    search: { read_only: true },
    fetch: { read_only: true },
    list: { read_only: true },
    count: { read_only: true },
    ask_user: { asks_user: true },
    quiet: { read_only: true, empty_output: true },
    write: {},
    research: {},
    compose: {},
  },
  checks: { loop_no_progress: "off" },
};

function warnings(event: GateEvent): readonly string[] {
  return event.type === "allowed"
    ? event.notices.warnings.map(({ reason }) => reason)
    : [event.type];
}

/** Calls with numbered arguments; the first output is the only new one. */
function drift(story: Story, count: number, tools = ["search"], output = "no match"): Story {
  for (let n = 0; n < count; n += 1) {
    story.done(tools[n % tools.length] as string, { query: `topic number ${n}`, page: n }, output);
  }
  return story;
}

describe("loop_drift", () => {
  test("warns after five calls without anything new, and refuses after seven", () => {
    const story = drift(startStory(POLICY), 5);
    expect(warnings(story.done("search", { page: "a" }, "no match"))).toEqual([]);
    for (let n = 6; n < 8; n += 1) {
      expect(warnings(story.done("search", { page: `${n}` }, "no match"))).toEqual(["loop_drift"]);
    }
    const { refusal, strike } = story.refused("search", { page: "next" });
    expect(refusal).toMatchObject({ reason: "loop_drift", rule: "loops.drift" });
    expect(refusal.message).toContain("The last 7 different calls of `search`");
    expect(strike).toMatchObject({ key: "drift#agent", count: 1 });
    story.done("write", {}, "written");
    story.allowed("search", { page: "next" });
  });

  test.each([
    ["two tools in turn", ["search", "fetch"]],
    ["three tools in turn", ["search", "fetch", "list"]],
  ])("refuses %s", (_what, tools) => {
    expect(drift(startStory(POLICY), 8, tools).reason("search", { page: "next" })).toBe(
      "loop_drift",
    );
  });

  test("lets a tool be tried that is none of them", () => {
    const story = drift(startStory(POLICY), 8);
    expect(warnings(story.done("fetch", { id: 1 }, "no match"))).toEqual([]);
    expect(story.reason("fetch", { id: 2 })).toBe("loop_drift");
  });

  test("leaves four tools in turn alone: the agent looks around", () => {
    const story = drift(startStory(POLICY), 30, ["search", "fetch", "list", "count"]);
    story.allowed("search", { page: "next" });
  });

  test("takes what an output repeats of its arguments, and times, for nothing new", () => {
    const story = startStory(POLICY);
    for (let n = 0; n < 8; n += 1) {
      const query = `the ${n}. paraphrase`;
      const output = JSON.stringify({ query, page: n, took_ms: 10 + n, hint: "none" });
      story.done("search", { query, page: n }, output);
    }
    expect(story.reason("search", { query: "another" })).toBe("loop_drift");
    const text = startStory(POLICY);
    for (let n = 0; n < 8; n += 1) {
      text.done("search", { query: `paraphrase ${n}` }, `No results for "paraphrase ${n}".`);
    }
    expect(text.reason("search", { query: "another" })).toBe("loop_drift");
  });

  test.each<readonly [string, (n: number) => string]>([
    ["pages with rows of their own", (n) => JSON.stringify({ page: n, rows: [`row ${n}`] })],
    ["a total that grows", (n) => JSON.stringify({ limit: 10, total: n })],
    ["texts that name the page", (n) => `page ${n}`],
    ["an output that is all argument", (n) => JSON.stringify({ page: n })],
  ])("lets %s go on", (_what, output) => {
    const story = startStory(POLICY);
    for (let n = 0; n < 40; n += 1) {
      expect(warnings(story.done("search", { page: n }, output(n)))).toEqual([]);
    }
  });

  test.each<readonly [string, (story: Story) => void]>([
    ["a new output of another tool", (story) => story.done("fetch", { id: 1 }, "something")],
    ["a new write", (story) => story.done("write", {}, "no match")],
    ["an hour", (story) => story.after(HOUR)],
    ["a person's answer", (story) => story.done("ask_user", { text: "go on?" }, "yes")],
  ])("counts from zero after %s", (_what, happens) => {
    const story = drift(startStory(POLICY), 8);
    happens(story);
    expect(warnings(story.allowed("search", { page: "next" }))).toEqual([]);
  });

  test("counts calls of one step once, and what is looked at again not at all", () => {
    const story = startStory(POLICY);
    for (let n = 0; n < 30; n += 1) {
      const call = story.allowed("search", { page: n }, { step: "s1" });
      story.reported(call, { status: "succeeded", output: "no match" });
    }
    expect(warnings(story.allowed("search", { page: "a" }, { step: "s2" }))).toEqual([]);
    const again = startStory(POLICY);
    for (let n = 0; n < 15; n += 1) again.done("search", { page: n }, `page ${n}`);
    again.after(MINUTE);
    for (let n = 0; n < 15; n += 1) again.done("search", { page: n }, `page ${n}`);
    expect(warnings(again.allowed("search", { page: "a" }))).toEqual([]);
  });

  test("warns over turns, and refuses within the turn alone", () => {
    const story = startStory(POLICY);
    for (let n = 1; n <= 20; n += 1) {
      story.after(MINUTE).turn(`${n}`);
      const seen = warnings(story.done("search", { page: n }, "no match"));
      expect([n, seen]).toEqual([n, n > 6 ? ["loop_drift"] : []]);
    }
  });

  test("only warns of writes that tools hand to one another, and not of a batch", () => {
    const story = drift(startStory(POLICY), 8, ["research", "compose"], "ask the other one");
    expect(warnings(story.allowed("research", { task: "more" }))).toContain("loop_drift");
    const batch = drift(startStory(POLICY), 30, ["write"], "sent");
    expect(warnings(batch.allowed("write", { to: "next" }))).toEqual([]);
  });

  test("ignores tools that never answer anything, and takes its numbers from the policy", () => {
    const quiet = drift(startStory(POLICY), 20, ["quiet"], "");
    expect(warnings(quiet.allowed("quiet", { page: "next" }))).toEqual([]);
    const short = startStory({ ...POLICY, loops: { drift: { warn: 2, refuse: 3 } } });
    expect(drift(short, 4).reason("search", { page: "next" })).toBe("loop_drift");
    const off = startStory({ ...POLICY, loops: { drift: { refuse: "off" } } });
    expect(warnings(drift(off, 30).allowed("search", { page: "next" }))).toEqual(["loop_drift"]);
  });

  test("only warns where the published threshold of no progress is written", () => {
    const published = { ...POLICY, tool_deduplication: { no_progress_threshold: 3 } };
    const story = drift(startStory(published), 30);
    expect(warnings(story.allowed("search", { page: "next" }))).toEqual(["loop_drift"]);
  });

  test("does not count calls whose output was not reported", () => {
    const story = startStory(POLICY);
    for (let n = 0; n < 20; n += 1) story.done("search", { page: n }, null);
    expect(warnings(story.allowed("search", { page: "next" }))).toEqual([]);
  });

  test("refuses five results without anything in them, of whatever page", () => {
    const story = startStory(POLICY);
    for (let page = 1; page < 4; page += 1) {
      story.done(
        "search",
        { q: "x", page },
        JSON.stringify({ page, pages: 3, rows: [`row ${page}`] }),
      );
    }
    for (let page = 4; page < 9; page += 1) {
      story.done("search", { q: "x", page }, JSON.stringify({ page, pages: 3, rows: [] }));
    }
    expect(story.reason("search", { q: "x", page: 9 })).toBe("loop_drift");
  });

  test("refuses a write in many forms that failed with one error, and lets another error through", () => {
    const fail = (story: Story, name: string, message: string) => {
      const call = story.allowed("write", { to: name });
      story.reported(call, { status: "failed", error: { code: null, message, retryable: false } });
    };
    const story = startStory(POLICY);
    for (const name of ["a-1", "b-2", "c-3", "d-4", "e-5", "f-6"]) {
      fail(story, name, `unknown agent '${name}'. Known: writer`);
    }
    expect(story.reason("write", { to: "g-7" })).toBe("loop_drift");
    const moving = startStory(POLICY);
    for (let n = 0; n < 12; n += 1) fail(moving, `w${n}`, `problem in part ${n}`);
  });

  test("does not refuse writes for failures that may pass", () => {
    const story = startStory(POLICY);
    for (let n = 0; n < 12; n += 1) {
      const call = story.allowed("write", { to: n });
      const error = { code: "503", message: "busy", retryable: true };
      story.reported(call, { status: "failed", error });
    }
  });

  test.each<readonly [string, (n: number) => object]>([
    ["days", (n) => ({ from: "JFK", date: `2024-05-${10 + n}` })],
    ["customers", (n) => ({ customer: `C-88${n}` })],
    ["numbers of orders", (n) => ({ order_id: 4_711 + n })],
  ])("takes each call of a sweep through %s for a question of its own", (_what, args) => {
    const story = startStory(POLICY);
    for (let n = 0; n < 20; n += 1) {
      expect(warnings(story.done("search", { ...args(n) }, "[]"))).toEqual(
        n < 5 ? [] : ["loop_drift"],
      );
    }
  });

  test.each<readonly [string, (n: number) => object]>([
    ["pages", (n) => ({ from: "2024-05-01", page: n })],
    ["wordings", (n) => ({ from: "2024-05-01", query: `wording ${n}` })],
  ])("takes calls that go through %s for none", (_what, args) => {
    const story = startStory(POLICY);
    for (let n = 0; n < 5; n += 1) story.done("search", { ...args(n) }, "[]");
    expect(story.reason("search", { ...args(6) })).toBe("loop_drift");
  });

  test("does not count calls of another agent", () => {
    const story = drift(startStory(POLICY), 8);
    expect(warnings(story.allowed("search", { page: "next" }, { agentId: "other" }))).toEqual([]);
  });
});
