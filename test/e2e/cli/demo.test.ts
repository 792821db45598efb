// The demo without a terminal: what does not change from run to run.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { drawRecording, RECORDING } from "../../../tasks/record-demo.js";
import { runCallgate } from "../../support/run-callgate.ts";

const COLUMNS = 100;

let directory = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "callgate-demo-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** Outcome and tool of every decision, in their order. */
function decisions(stdout: string): readonly string[] {
  return [...stdout.matchAll(/^ {2}. (allowed|answered|refused|held) +(\w+)/gm)].map(
    ([, outcome, tool]) => `${outcome} ${tool}`,
  );
}

const HASTY_POLL = "refused poll_export";
const PLAYS_MAX = 10;

/**
 * On a machine that pauses between two polls, the hasty poll may come late enough to be allowed,
 * rightly. Then the demo is played again.
 */
async function playDemo(args: readonly string[], wasHasty: (stdout: string) => boolean) {
  for (let left = PLAYS_MAX; ; left -= 1) {
    const run = await runCallgate(["demo", ...args], { cwd: directory });
    if (left === 0 || run.code !== 0 || wasHasty(run.stdout)) return run;
  }
}

const times = (count: number, text: string): string[] => Array.from({ length: count }, () => text);

test("prints every decision within the screen width, and says what to do next", async () => {
  const wasHasty = (stdout: string): boolean => decisions(stdout).includes(HASTY_POLL);
  const { code, stdout } = await playDemo([], wasHasty);
  expect(code).toBe(0);
  expect(decisions(stdout)).toEqual([
    "allowed create_document",
    ...times(6, "refused create_document"),
    "allowed create_document",
    ...times(6, "refused create_document"),
    "allowed get_order",
    "answered get_order",
    "allowed create_invoice",
    "refused charge_card",
    "allowed charge_card",
    "allowed pay",
    ...times(2, "refused pay"),
    "allowed poll_export",
    HASTY_POLL,
    ...times(2, "allowed poll_export"),
    "allowed publish_page",
    "allowed set_title",
    "allowed publish_page",
    "held delete_customer",
    "allowed delete_customer",
  ]);
  expect(stdout).not.toContain("\u001b");
  // The commands at the end contain paths, whose length varies.
  const [played = ""] = stdout.split("Every decision is in the log");
  expect(played.split("\n").filter((line) => [...line].length > COLUMNS)).toEqual([]);
  expect(stdout).toContain("2 documents instead of 14");
  expect(stdout).toContain("No terminal to ask on: the demo says yes itself.");
  expect(existsSync(join(directory, ".callgate/demo/log.mdb"))).toBe(true);
});

test("prints the content of docs/images/demo.svg", async () => {
  const wasHasty = (stdout: string): boolean => decisions(stdout).includes(HASTY_POLL);
  const { stdout } = await playDemo([], wasHasty);
  expect(playedTexts(drawRecording(stdout.trimEnd().split("\n")))).toEqual(
    playedTexts(readFileSync(RECORDING, "utf8")),
  );
});

/** The lines of a recording before those that contain paths. */
function playedTexts(recording: string): readonly string[] {
  const [played = ""] = recording.split("Every decision is in the log");
  const texts = [...played.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text = ""]) => text);
  expect(texts.length).toBeGreaterThan(50);
  return texts;
}

test("prints JSON lines with --json", async () => {
  const wasHasty = (stdout: string): boolean => stdout.includes('"reason":"tool_frequency"');
  const { code, stdout } = await playDemo(["--json"], wasHasty);
  expect(code).toBe(0);
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.filter(({ type }) => type === "decision")).toHaveLength(31);
  expect(lines.at(-1)).toMatchObject({
    type: "summary",
    totals: { allowed: 12, failed: 1, answered: 1, refused: 16, held: 1 },
  });
});

test("can be run again, and its recommended commands work", async () => {
  await runCallgate(["demo"], { cwd: directory });
  const { code, stdout } = await runCallgate(["demo"], { cwd: directory });
  expect(code).toBe(0);
  expect(decisions(stdout)).toHaveLength(31);
  const next = stdout.slice(stdout.indexOf("What to try next:")).replaceAll("\\\n", " ");
  const commands = [...next.matchAll(/^ {2}npm run -s callgate -- (.*)$/gm)].map(([, args]) =>
    (args ?? "").match(/'[^']*'|\S+/g)?.map((word) => word.replaceAll("'", "")),
  );
  expect(commands).toHaveLength(4);
  for (const args of commands) {
    expect(await runCallgate(args ?? [], { cwd: directory })).toMatchObject({ code: 0 });
  }
});
