// `callgate policy explain` with a recording.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runInProcess } from "../../../support/memory-terminal.ts";

let directory = "";
let policy = "";

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "callgate-explain-"));
  policy = join(directory, "policy.yaml");
  writeFileSync(policy, "tool_schemas: { pay: { read_only: false } }\n");
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

function explain(ids: readonly string[], ...more: string[]) {
  const path = join(directory, "recorded.jsonl");
  const lines = ids.map((id) => JSON.stringify({ id, calls: [{ tool: "pay", args: {} }] }));
  writeFileSync(path, lines.map((line) => `${line}\n`).join("\n"));
  return runInProcess(["policy", "explain", "-p", policy, "--conversation", path, ...more]);
}

test("uses a recording of one conversation as the history of the call", async () => {
  const ended = await explain(["a"], "--call", '{"tool":"pay","args":{}}', "--json");
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(ended.stdout)).toMatchObject({ tool: "pay", outcome: "refused" });
});

test.each([[[]], [["--call", '{"tool":"pay","args":{}}']]])(
  "refuses to choose between several conversations, with %j",
  async (more) => {
    const ended = await explain(["a", "b", "c"], ...more);
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toContain("recorded.jsonl: contains 3 conversations, one per line");
    expect(ended.stderr).toContain("sed -n 1p FILE");
  },
);

test.each([
  ['{"tool":"pay","args":{"id":9007199254740993}}', "would change as a double"],
  ['{"tool":"pay","args":{"a":1,"a":2}}', "stands twice in one object"],
  [JSON.stringify({ tool: "pay", arguments: '{"a":1,"a":2}' }), "stands twice in one object"],
])("refuses to explain a call that two parsers could read differently: %s", async (call, why) => {
  const ended = await runInProcess(["policy", "explain", "-p", policy, "--call", call]);
  expect(ended).toMatchObject({ code: 2, stdout: "" });
  expect(ended.stderr).toContain(why);
  expect(ended.stderr).toContain("the gate refuses such a call as malformed");
});
