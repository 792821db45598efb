import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadPolicy } from "../../../../services/adapters/policy/load.ts";
import { replayPolicy } from "../../../../services/cli/replay/replay-conversation.ts";
import { replayFiles } from "../../../../services/cli/replay/replay-files.ts";
import { ReplaySummary } from "../../../../services/cli/replay/summary.ts";
import { capabilities } from "../../../../services/gate/capabilities.ts";
import { compileGatePolicy } from "../../../../services/gate/gate-policy.ts";

let directory = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "callgate-replay-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function policy() {
  const document = { tool_schemas: { write: {} } };
  const result = compileGatePolicy(loadPolicy(document), capabilities);
  if (!result.ok) throw new Error("the policy does not compile");
  return replayPolicy(result.policy);
}

async function replay(lines: readonly string[]) {
  const path = join(directory, "calls.jsonl");
  writeFileSync(path, lines.join("\n"));
  const broken: string[] = [];
  const summary = new ReplaySummary();
  const options = {
    feedRefused: false,
    applyStops: false,
    heldAllow: false,
    onBrokenLine: (message: string) => {
      broken.push(message.replace(directory, "."));
      summary.addBrokenLine();
    },
  };
  for await (const replayed of replayFiles([path], policy(), options)) summary.add(replayed);
  return { broken, summary: summary.summary };
}

const conversation = (id: string, times: number) =>
  JSON.stringify({
    id,
    calls: Array.from({ length: times }, () => ({ tool: "write", args: {}, output: "ok" })),
  });

test("starts each line without state, even under an id that it has seen", async () => {
  const { summary } = await replay([conversation("c", 1), conversation("c", 1)]);
  expect(summary).toMatchObject({ conversations: 2, total: { calls: 2, allowed: 2 } });
});

test("reports and skips an invalid line, with its location", async () => {
  const { broken, summary } = await replay([conversation("a", 1), "{bad", '{"id":1}', "", "{}"]);
  expect(broken).toEqual([
    expect.stringMatching(/^\.\/calls\.jsonl:2:2: .*; correct the line or remove it$/),
    "./calls.jsonl:3: `id` must be a string; correct the line or remove it",
    "./calls.jsonl:5: `id` must be a string; correct the line or remove it",
  ]);
  expect(summary).toMatchObject({ conversations: 1, brokenLines: 3 });
});

test("summarizes by reason and tool, with the ten worst conversations", async () => {
  const { summary } = await replay([
    ...Array.from({ length: 12 }, (_, index) => conversation(`c${index}`, index + 1)),
    JSON.stringify({ id: "other", calls: [{ tool: "unheard", args: {} }] }),
  ]);
  expect(summary.reasons).toEqual([
    { reason: "duplicate_call", calls: 66 },
    { reason: "unknown_tool", calls: 1 },
  ]);
  expect(summary.tools).toEqual([
    { tool: "write", calls: 78, allowed: 12, refused: 66, answered: 0, held: 0, warned: 0 },
    { tool: "unheard", calls: 1, allowed: 0, refused: 1, answered: 0, held: 0, warned: 0 },
  ]);
  expect(summary.worst).toHaveLength(10);
  expect(summary.worst[0]).toMatchObject({ id: "c11", calls: 12, blocked: 11 });
  expect(summary.blockedConversations).toBe(12);
});
