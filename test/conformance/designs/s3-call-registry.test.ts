// What the published design of a registry of tool calls promises, row by row (docs/coverage.md).
import { expect, test } from "vitest";
import { outcomeOf } from "../../support/gate-story/gate-story.ts";
import { tell, templatePath } from "../../support/gate-story/tell.ts";

const SEVEN_COMMITS = "a1 b2 c3 d4 e5 f6 g7";
const READ_FILE = { tool_deduplication: {}, tool_schemas: { read_file: { read_only: true } } };

test("S3.1 thirty git log calls with slightly different patterns and one output get a warning from the fourth on", async () => {
  const story = await tell(templatePath("t3"));
  const warned: boolean[] = [];
  for (let i = 1; i <= 30; i++) {
    const decision = await story.done("bash", { command: `git log --grep=fix${i}` }, SEVEN_COMMITS);
    expect(decision.outcome).toBe("allowed");
    warned.push(decision.warnings.some(({ reason }) => reason === "loop_no_progress"));
  }
  expect(warned.slice(0, 3)).toEqual([false, false, false]);
  expect(warned.slice(3).every((one) => one)).toBe(true);
});

test("S3.2 the registry belongs to the turn: a new turn reads afresh", async () => {
  const story = await tell(READ_FILE);
  await story.done("read_file", { path: "a" }, "one");
  expect(await story.outcome("read_file", { path: "a" })).toBe("duplicate_call");
  story.turn(2);
  expect(await story.outcome("read_file", { path: "a" })).toBe("allowed");
});

test("S3.3 an exact duplicate gives the earlier result, the flag and the note", async () => {
  const story = await tell(templatePath("t3"));
  await story.done("read_file", { path: "a" }, "text of a");
  const { refusal } = await story.propose("read_file", { path: "a" });
  expect(refusal).toMatchObject({ reason: "duplicate_call", duplicate: true });
  expect(refusal?.note).toMatch(/^This tool call was already made in this turn/);
  expect(JSON.stringify(refusal?.previousResult)).toContain("text of a");
});

test("S3.4 no new information is a warning and never a block", async () => {
  const story = await tell({
    tool_deduplication: { no_progress_threshold: 3 },
    tool_schemas: { grep: { read_only: true } },
  });
  for (let i = 0; i < 40; i++) {
    const decision = await story.done("grep", { pattern: `p${i}` }, "nothing");
    expect(outcomeOf(decision)).toBe("allowed");
  }
  const last = await story.propose("grep", { pattern: "p40" });
  expect(last.warnings.map(({ reason }) => reason)).toContain("loop_no_progress");
});

test("S3.5 a hundred calls are remembered across turns", async () => {
  const failing = { command: "make" };
  const reads = await tell({
    deduplication: { max_history: 100 },
    tool_schemas: { look: { read_only: true }, read: { read_only: true } },
  });
  for (let turn = 1; turn <= 5; turn++) {
    reads.turn(turn);
    expect((await reads.failed("look", failing, "no such file")).outcome).toBe("allowed");
    for (let i = 0; i < 20; i++) await reads.done("read", { turn, i }, `${turn} ${i}`);
  }
  reads.turn(6);
  expect(await reads.outcome("look", failing)).toBe("failure_streak");
  await reads.close();
  const story = await tell({
    deduplication: { scope: "conversation", max_history: 100 },
    tool_schemas: { write_file: { dedupe_window_s: 1 }, note: {} },
  });
  await story.done("write_file", { path: "a", text: "b" }, "ok");
  story.after(2_000);
  story.turn(2);
  await story.done("write_file", { path: "a", text: "b" }, "ok");
  for (let i = 0; i < 90; i++) {
    story.after(1);
    const noted = await story.propose("note", { i }, {});
    // The note did not run, so it changed nothing that the write depends on.
    await story.report(noted, { status: "not_executed" });
  }
  story.after(2_000);
  story.turn(3);
  expect(await story.outcome("write_file", { path: "a", text: "b" })).toBe("loop_repeat");
});

test("S3.6 polling and ordinary work with several tools go on", async () => {
  const story = await tell({
    tool_deduplication: {},
    tool_schemas: {
      poll_job: { polling: { min_interval_ms: 1_000, max_calls: 60 } },
      read_file: { read_only: true },
      edit_file: {},
    },
  });
  for (let i = 0; i < 30; i++) {
    expect(outcomeOf(await story.done("poll_job", { id: 7 }, "running"))).toBe("allowed");
    story.after(2_000);
  }
  for (let i = 0; i < 5; i++) {
    expect(outcomeOf(await story.done("read_file", { path: "a" }, `version ${i}`))).toBe("allowed");
    expect(outcomeOf(await story.done("edit_file", { path: "a", line: i }, "ok"))).toBe("allowed");
  }
});

test("S3.7 the order of keys makes no difference, that of lists where the policy says so", async () => {
  const find = { read_only: true, normalizers: { tags: "sort" } };
  const story = await tell({ tool_schemas: { find, list: { read_only: true } } });
  await story.done("find", '{"a":1,"tags":["x","y"]}');
  expect(await story.outcome("find", '{"tags":["y","x"],"a":1}')).toBe("duplicate_call");
  await story.done("list", '{"ids":[1,2],"b":{"c":1,"d":2}}');
  expect(await story.outcome("list", '{"b":{"d":2,"c":1},"ids":[1,2]}')).toBe("duplicate_call");
  expect(await story.outcome("list", '{"b":{"d":2,"c":1},"ids":[2,1]}')).toBe("allowed");
});

test("S3.7 similar but different arguments have different keys", async () => {
  const story = await tell({ tool_schemas: { a: { read_only: true }, aa: { read_only: true } } });
  const calls: readonly [tool: string, args: string][] = [
    ["a", '{"x":"1"}'],
    ["a", '{"x":1}'],
    ["a", '{"x":[1]}'],
    ["a", '{"x":null}'],
    ["a", '{"x":{}}'],
    ["a", "{}"],
    ["a", '{"x":"1 "}'],
    ["a", '{"x":"1","y":""}'],
    ["aa", '{"x":"1"}'],
    ["a", '{"x":"\\u00e9"}'],
    ["a", '{"x":"e\\u0301"}'],
  ];
  for (const [tool, args] of calls) {
    const decision = await story.done(tool, args, `${tool} ${args}`);
    expect([tool, args, outcomeOf(decision)]).toEqual([tool, args, "allowed"]);
  }
});

test("S3.7 a second read_file in one turn is answered from memory, different patterns are not", async () => {
  const schemas = { read_file: { read_only: true }, grep: { read_only: true } };
  const story = await tell({ tool_deduplication: {}, tool_schemas: schemas });
  await story.done("read_file", { path: "a" }, "text of a");
  const { refusal } = await story.propose("read_file", { path: "a" });
  expect(JSON.stringify(refusal?.previousResult)).toContain("text of a");
  expect(await story.outcome("grep", { pattern: "a.*b" })).toBe("allowed");
  expect(await story.outcome("grep", { pattern: "a.+b" })).toBe("allowed");
});

test("S3.8 duplicates are detected by default, and detection can be switched off", async () => {
  const both = { create: {}, grep: { read_only: true } };
  const on = await tell({ tool_schemas: both });
  await on.done("create", { n: 1 });
  expect(await on.outcome("create", { n: 1 })).toBe("duplicate_call");
  await on.done("grep", { n: 1 }, "none");
  expect(await on.outcome("grep", { n: 1 })).toBe("duplicate_call");
  for (const n of [2, 3]) await on.done("grep", { n }, "none");
  const warned = await on.propose("grep", { n: 4 });
  expect(warned.warnings.map(({ reason }) => reason)).toEqual(["loop_no_progress"]);
  await on.close();
  const off = await tell({ tool_deduplication: { enabled: false }, tool_schemas: both });
  await off.done("create", { n: 1 });
  expect(await off.outcome("create", { n: 1 })).toBe("allowed");
  for (let n = 1; n <= 20; n++) {
    const decision = await off.done("grep", { n }, "none");
    expect([n, outcomeOf(decision), decision.warnings]).toEqual([n, "allowed", []]);
  }
  expect(await off.outcome("grep", { n: 20 })).toBe("allowed");
});
