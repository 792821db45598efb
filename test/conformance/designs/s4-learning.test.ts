// What the published proposal for learning from duplicates promises, row by row (docs/coverage.md).
import { expect, test } from "vitest";
import type { CallRefusal, Decision } from "../../../services/client/api/gate-types.ts";
import { type GateStory, outcomeOf } from "../../support/gate-story/gate-story.ts";
import { tell } from "../../support/gate-story/tell.ts";

const LADDER = { escalation: { ask: 1, options: 2, user_input: 3, end: 4 } };
const TOOLS = { write_file: {}, run: {}, get_time: { read_only: true, volatile: true } };
const WRITE = { path: "game.py", content: "import pygame" };

async function refusalOf(
  story: GateStory,
  tool: string,
  args: object,
  overrides = {},
): Promise<CallRefusal> {
  const { refusal, outcome } = await story.propose(tool, args, overrides);
  if (refusal === undefined) throw new Error(`it is ${outcome}`);
  return refusal;
}

test("S4.1 a refused duplicate that is repeated until the task ends", async () => {
  const story = await tell({ ...LADDER, acknowledgement: { mode: "off" }, tool_schemas: TOOLS });
  await story.done("write_file", WRITE, "written");
  const reasons: string[] = [];
  for (let i = 0; i < 5; i++) reasons.push(outcomeOf(await story.propose("write_file", WRITE)));
  expect(reasons).toEqual([
    ...Array(3).fill("duplicate_call"),
    "user_input_required",
    "conversation_ended",
  ]);
  const { refusal } = await story.propose("get_time");
  expect(refusal).toMatchObject({
    reason: "conversation_ended",
    disposition: "stop",
    resolution: { type: "new_turn" },
  });
  story.turn(2);
  expect(await story.outcome("get_time")).toBe("allowed");
});

test("S4.2 the refusal names the call, its outcome, the reason and what to change", async () => {
  const story = await tell({ tool_schemas: TOOLS });
  const content = "x".repeat(2_000);
  await story.done("write_file", { path: "a", content }, "y".repeat(3_000));
  const refusal = await refusalOf(story, "write_file", { path: "a", content });
  expect(refusal.tool).toBe("write_file");
  expect(refusal.arguments).toHaveLength(500);
  expect(refusal.message).toContain("What will you do differently?");
  expect(refusal.message).toContain("y".repeat(900));
  expect(refusal.message).not.toContain("y".repeat(1_001));
});

test("S4.2 the refusal asks to correct a failed call, and says that a successful one is done", async () => {
  const story = await tell({ retries: { max_attempts: 1 }, tool_schemas: TOOLS });
  await story.failed("run", { command: "a" }, "pygame is not installed", "1");
  const failed = await refusalOf(story, "run", { command: "a" });
  expect(failed.reason).toBe("retry_exhausted");
  expect(failed.message).toContain("pygame is not installed");
  await story.done("write_file", WRITE, "written");
  const done = await refusalOf(story, "write_file", WRITE);
  expect(done.disposition).toBe("use_previous_result");
  expect(failed.message).not.toBe(done.message);
});

/** The stop for the user comes one duplicate later. */
const PATIENT = { escalation: { ask: 1, options: 2, user_input: 4, end: "off" } };
const AGAIN = "Let me try writing the file again";
const INSTEAD = "Instead, I will check if pygame is installed first";

async function untilOptions(policy: object): Promise<GateStory> {
  const story = await tell({ ...policy, tool_schemas: TOOLS });
  await story.done("write_file", WRITE, "written");
  await story.propose("write_file", WRITE);
  await story.propose("write_file", WRITE);
  return story;
}

test("S4.3 `Let me try writing the file again` is no acknowledgement, `Instead, I will check` is one", async () => {
  const story = await untilOptions({ ...LADDER, acknowledgement: { mode: "explicit" } });
  const check = { command: "pip show pygame" };
  expect(await story.outcome("run", check)).toBe("acknowledgement_required");
  expect(await story.outcome("run", check, { assistantText: AGAIN })).toBe(
    "acknowledgement_required",
  );
  expect(await story.outcome("run", check, { assistantText: INSTEAD })).toBe("allowed");
  expect(await story.outcome("run", { command: "ls" })).toBe("allowed");
});

test("S4.3 words alone are no acknowledgement: the call must differ from the refused one", async () => {
  const story = await untilOptions({ ...PATIENT, acknowledgement: { mode: "explicit" } });
  const decision = await story.propose("write_file", WRITE, { assistantText: INSTEAD });
  expect(decision.outcome).toBe("refused");
  expect(await story.outcome("run", {}, { assistantText: INSTEAD })).toBe("allowed");
});

test("S4.3 patterns of the policy decide what counts as an acknowledgement", async () => {
  const patterns = { mode: "explicit", patterns: ["I see"], unless: ["\\bbut\\b"] };
  const story = await untilOptions({ ...PATIENT, acknowledgement: patterns });
  const says = (assistantText: string) => story.outcome("run", {}, { assistantText });
  expect(await says(INSTEAD)).toBe("acknowledgement_required");
  expect(await says("i SEE, but no")).toBe("acknowledgement_required");
  expect(await says("i SEE")).toBe("allowed");
});

test("S4.4 the first duplicate asks, the second gives options, the third needs the user, the fourth ends", async () => {
  const policy = { ...LADDER, acknowledgement: { mode: "off" }, tool_schemas: TOOLS };
  // With turns a level stops all calls; without them it refuses only the repeated one.
  for (const turn of [1, undefined]) {
    const story = await tell(policy);
    story.turn(turn);
    await story.done("write_file", WRITE, "written");
    const refusals: CallRefusal[] = [];
    for (let i = 0; i < 4; i++) refusals.push(await refusalOf(story, "write_file", WRITE));
    expect(refusals.map(({ level }) => level)).toEqual([1, 2, 3, 4]);
    expect(refusals.map(({ count }) => count)).toEqual([1, 2, 3, 4]);
    expect(refusals[0]?.message).toContain("What will you do differently?");
    expect(refusals[1]?.message).toContain("Your options:");
    expect(refusals[2]).toMatchObject({ reason: "duplicate_call", disposition: "ask_user" });
    expect(refusals[3]?.disposition).toBe("stop");
    expect(refusals[3]?.message).toContain("This task is ended because");
    expect(new Set(refusals.map(({ message }) => message)).size).toBe(4);
    expect(new Set(refusals.map(({ userMessage }) => userMessage)).size).toBe(4);
    const after = await story.outcome("get_time");
    expect(after).toBe(turn === undefined ? "allowed" : "conversation_ended");
    await story.close();
  }
});

test("S4.4 the third duplicate stops every call until the user has answered", async () => {
  const story = await tell({ ...LADDER, acknowledgement: { mode: "off" }, tool_schemas: TOOLS });
  await story.done("write_file", WRITE, "written");
  for (let i = 0; i < 3; i++) await refusalOf(story, "write_file", WRITE);
  const other = await refusalOf(story, "run", { command: "ls" });
  expect(other).toMatchObject({ reason: "user_input_required", level: 0, disposition: "ask_user" });
  expect(other.userMessage).toContain("need your answer");
  story.turn(2);
  expect(await story.outcome("run", { command: "ls" })).toBe("allowed");
});

const LINES = Array.from({ length: 60 }, (_, i) => `line ${i} of a long program does ${i * 7}`);

function similar(threshold: number, mode = "enforce"): object {
  return {
    checks: { near_duplicate: mode },
    tool_schemas: {
      write_file: {
        effects: [{ resource: "file/{path}", kind: "update" }],
        similarity: [{ field: "content", threshold, with: ["path"] }],
      },
    },
  };
}

async function writeTwice(policy: object, path: string, content: string): Promise<Decision> {
  const story = await tell(policy);
  await story.done("write_file", { path: "a", content: LINES.join("\n") }, "written");
  return story.propose("write_file", { path, content });
}

test("S4.5 write_file of nearly the same content is a near duplicate", async () => {
  const nearly = [...LINES.slice(0, 59), "line 59 is another"].join("\n");
  const other = LINES.map((line, i) => (i % 2 === 0 ? line : `something else ${i}`)).join("\n");
  const outcome = async (path: string, content: string) =>
    outcomeOf(await writeTwice(similar(0.9), path, content));
  expect(await outcome("a", nearly)).toBe("near_duplicate");
  expect(await outcome("b", nearly)).toBe("allowed");
  expect(await outcome("a", other)).toBe("allowed");
});

test("S4.5 near duplicates only warn by default, since changing one line of a long file is ordinary work", async () => {
  const nearly = [...LINES.slice(0, 59), "line 59 is another"].join("\n");
  const decision = await writeTwice(similar(0.9, "warn"), "a", nearly);
  expect(decision.outcome).toBe("allowed");
  expect(decision.warnings.map(({ reason }) => reason)).toEqual(["near_duplicate"]);
});

test("S4.6 duplicates of one step count once, and each later one gets a stronger answer", async () => {
  const story = await tell({ ...LADDER, acknowledgement: { mode: "off" }, tool_schemas: TOOLS });
  await story.done("write_file", WRITE, "written");
  const first = await refusalOf(story, "write_file", WRITE, { step: "s2" });
  const beside = await refusalOf(story, "write_file", WRITE, { step: "s2" });
  const later = await refusalOf(story, "write_file", WRITE);
  expect([first.level, beside.level, later.level]).toEqual([1, 1, 2]);
  expect(first.message).toContain("What will you do differently?");
  expect(first.message).toContain("written");
});
