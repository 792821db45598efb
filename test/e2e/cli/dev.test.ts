// The embedded gate as a long-running command: bad lines, verdicts from another process, one gate for
// a directory, graceful stop, and a restart that remembers.
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type CallgateRun, endOf, runCallgate, startCallgate } from "../../support/run-callgate.ts";

const POLICY = fileURLToPath(new URL("../../../infra/policies/demo.yaml", import.meta.url));

let directory = "";
const started: { readonly child: ChildProcess; readonly end: Promise<CallgateRun> }[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "callgate-dev-"));
});
afterEach(async () => {
  for (const { child, end } of started.splice(0)) {
    child.kill("SIGKILL");
    await end;
  }
  rmSync(directory, { recursive: true, force: true });
});

type Line = Readonly<Record<string, unknown>>;

/** A gate that the test feeds line by line. */
function startDev(...args: readonly string[]) {
  const child = startCallgate(["dev", "--policy", POLICY, ...args], { cwd: directory });
  const end = endOf(child);
  started.push({ child, end });
  if (child.stdout === null || child.stdin === null) throw new Error("no pipes");
  const { stdin } = child;
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    end: end as Promise<CallgateRun>,
    next: async (): Promise<Line> => {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`it ended: ${(await end).stderr}`);
      return JSON.parse(value) as Line;
    },
    send: (line: object | string) =>
      stdin.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`),
    finish: () => stdin.end(),
  };
}

const run = (args: readonly string[], input?: string) =>
  runCallgate(args, { cwd: directory, ...(input === undefined ? {} : { input }) });

const READ = { conversationId: "c", turn: 1, step: 1, callId: "a", tool: "get_order" };
const read = (step: number) => ({
  ...READ,
  step,
  callId: `r${step}`,
  arguments: { order_id: "7" },
});
const deletion = { conversationId: "c", callId: "d", tool: "delete_customer", arguments: { x: 1 } };

test("decides, records results, and ends with its input", async () => {
  const dev = startDev();
  dev.send(read(1));
  expect(await dev.next()).toMatchObject({ type: "decision", line: 1, outcome: "allowed" });
  dev.send({ ...READ, callId: "r1", tool: undefined, status: "succeeded", output: { total: 3 } });
  expect(await dev.next()).toMatchObject({ type: "result", line: 2, recorded: true });
  dev.send(read(2));
  expect(await dev.next()).toMatchObject({
    line: 3,
    outcome: "refused",
    refusal: { reason: "duplicate_call", previousResult: { inline: '{"total":3}' } },
  });
  dev.finish();
  expect(await dev.end).toMatchObject({ code: 0 });
});

test("answers every bad line with an error, and continues", async () => {
  const huge = JSON.stringify({ ...read(9), arguments: { text: "x".repeat(1024 * 1024) } });
  const lines: readonly (readonly [string, object])[] = [
    ["{oops", { type: "error", message: expect.stringContaining("not JSON") }],
    ['{"conversationId":"c"}', { type: "error", message: expect.stringContaining("is missing") }],
    [
      JSON.stringify({ ...read(1), surprise: 1 }),
      { type: "error", message: expect.stringContaining("unknown field `surprise`") },
    ],
    [
      JSON.stringify({ ...read(1), tool: 7 }),
      { type: "error", message: expect.stringContaining("`tool` must be text") },
    ],
    [
      JSON.stringify({ ...read(1), conversationId: "e\u0301" }),
      { type: "error", message: expect.stringContaining("conversationId") },
    ],
    [
      JSON.stringify({ ...read(1), arguments: '{"a":1,"a":2}' }),
      { outcome: "refused", refusal: expect.objectContaining({ reason: "malformed" }) },
    ],
    [huge, { outcome: "refused", refusal: expect.objectContaining({ reason: "too_large" }) }],
    ["x".repeat(3 * 1024 * 1024), { type: "error", message: expect.stringContaining("2 MiB") }],
    [
      JSON.stringify({ ...read(2), tool: "unheard" }),
      { outcome: "refused", refusal: expect.objectContaining({ reason: "unknown_tool" }) },
    ],
    [JSON.stringify(read(3)), { type: "decision", outcome: "allowed" }],
  ];
  writeFileSync(join(directory, "in.jsonl"), lines.map(([line]) => `${line}\n`).join(""));
  const { code, stdout, stderr } = await run(["dev", "--policy", POLICY, "--in", "in.jsonl"]);
  const answers = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  expect(code).toBe(2);
  expect(stderr).toContain("6 lines were rejected");
  expect(answers).toHaveLength(lines.length);
  const byLine = answers.sort((a, b) => Number(a["line"]) - Number(b["line"]));
  for (const [index, [, expected]] of lines.entries())
    expect(byLine[index]).toMatchObject(expected);
});

test("reports bad lines only in its answers with --stay", async () => {
  const dev = startDev("--stay");
  dev.send("{oops");
  expect(await dev.next()).toMatchObject({ type: "error", line: 1 });
  dev.finish();
  dev.child.kill("SIGTERM");
  expect(await dev.end).toMatchObject({ code: 0, signal: null });
});

test("refuses a second gate with the pid of the first", async () => {
  const dev = startDev();
  dev.send(read(1));
  await dev.next();
  const second = await run(["dev", "--policy", POLICY]);
  expect(second).toMatchObject({ code: 3, stdout: "" });
  expect(second.stderr).toContain(`process ${dev.child.pid}`);
  expect(second.stderr).toContain("use another data directory");
});

test("allows a held call after another process approves it", async () => {
  const dev = startDev();
  dev.send(deletion);
  const held = await dev.next();
  expect(held).toMatchObject({ outcome: "held" });
  const listed = await run(["approvals", "list", "--json"]);
  const { approvals } = JSON.parse(listed.stdout);
  expect(approvals).toEqual([
    expect.objectContaining({ approvalId: held["approvalId"], tool: "delete_customer" }),
  ]);
  const approved = await run(["approvals", "approve", String(held["approvalId"]), "--by", "ann"]);
  expect(approved).toMatchObject({ code: 0, stdout: expect.stringMatching(/: allowed\n$/) });
  expect(await dev.next()).toMatchObject({ line: 1, outcome: "allowed" });
  const again = await run(["approvals", "deny", String(held["approvalId"])]);
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("no call waits") });
});

test("applies a verdict given while no gate ran", async () => {
  const args = ["dev", "--policy", POLICY];
  const { stdout } = await run(args, `${JSON.stringify(deletion)}\n`);
  const { approvalId } = JSON.parse(stdout);
  const denied = await run(["approvals", "deny", approvalId, "--by", "ann", "--reason", "no"]);
  expect(denied).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("no gate has processed it within 3 s"),
  });
  const waiting = JSON.parse((await run(["approvals", "list", "--json"])).stdout);
  expect(waiting.approvals).toEqual([
    expect.objectContaining({ approvalId, verdict: { kind: "deny", by: "ann" } }),
  ]);
  const answer = await run(args, `${JSON.stringify(deletion)}\n`);
  expect(JSON.parse(answer.stdout)).toMatchObject({
    outcome: "refused",
    refusal: { reason: "approval_denied" },
  });
  const left = await run(["approvals", "list"]);
  expect(left.stdout).toBe("no call waits for a person\n");
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s stops it cleanly, and the next gate remembers",
  async (signal) => {
    const dev = startDev("--stay");
    dev.send({ ...deletion, tool: "create_document" });
    const { decisionId } = await dev.next();
    dev.send({ decisionId, status: "succeeded", output: "doc-1" });
    await dev.next();
    dev.child.kill(signal);
    expect(await dev.end).toMatchObject({ code: 0, signal: null });

    const repeat = { ...deletion, tool: "create_document", callId: "e" };
    const next = await run(["dev", "--policy", POLICY], `${JSON.stringify(repeat)}\n`);
    expect(JSON.parse(next.stdout)).toMatchObject({
      outcome: "refused",
      refusal: { reason: "duplicate_call", previousCall: { decisionId } },
    });
  },
);

test("merges policies, and rejects a line that is not UTF-8", async () => {
  const tiers = '{ tiers: [{ name: never, pattern: "wipe_*", action: deny }] }';
  writeFileSync(join(directory, "a.yaml"), `authorization: ${tiers}\n`);
  writeFileSync(join(directory, "b.yaml"), "tool_schemas: { wipe_disk: {}, mail: {} }\n");
  const calls = [
    '{"conversationId":"c","tool":"wipe_disk","arguments":{}}',
    '{"conversationId":"c","tool":"mail","arguments":{"to":"M\xfcller"}}',
    '{"conversationId":"c","tool":"mail","arguments":{"to":"Mueller"}}',
  ];
  writeFileSync(join(directory, "in.jsonl"), Buffer.from(`${calls.join("\n")}\n`, "latin1"));
  const child = startCallgate(["dev", "-p", "a.yaml", "-p", "b.yaml", "--in", "in.jsonl"], {
    cwd: directory,
  });
  const { stdout } = await endOf(child);
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .sort((a, b) => a.line - b.line);
  expect(lines).toMatchObject([
    { line: 1, outcome: "refused" },
    { line: 2, message: expect.stringContaining("not UTF-8 at byte") },
    { line: 3, outcome: "allowed" },
  ]);
});
