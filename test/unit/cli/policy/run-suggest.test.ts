// `callgate policy suggest`: what recordings and journals speak for.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openCallgate } from "../../../../services/library/callgate.ts";
import { runInProcess } from "../../../support/memory-terminal.ts";

let directory = "";

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "callgate-suggest-"));
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

type Call = { readonly tool: string; readonly args: object; readonly output?: string };

function recording(name: string, conversations: readonly (readonly Call[])[]): string {
  const path = join(directory, name);
  const lines = conversations.map((calls, at) => JSON.stringify({ id: `c${at}`, calls }));
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

const get = (id: string): Call => ({ tool: "get_order", args: { order_id: id }, output: id });
const refund = (id: string): Call => ({
  ...{ tool: "refund_order", args: { order_id: id }, output: "done" },
});
const credit = (id: string): Call => ({
  ...{ tool: "credit_order", args: { order_id: id }, output: "done" },
});

async function suggest(...args: readonly string[]) {
  const ended = await runInProcess(["policy", "suggest", ...args]);
  expect(ended.stderr).toBe("");
  expect(ended.code).toBe(0);
  return ended.stdout;
}

describe("callgate policy suggest", () => {
  test("proposes reads that gave the same each time, and says what that changes", async () => {
    const path = recording("reads.jsonl", [[get("a"), get("a"), get("b")], [get("a")]]);
    const yaml = await suggest("--from", path);
    expect(yaml).toContain("# a read by its name: 4 calls, and 1 of 1 repeats gave the same");
    expect(yaml).toMatch(/get_order:\n\s+read_only: true/);
    expect(yaml).toContain("on the recordings: ");
  });

  test("proposes no read whose repeat gave something else while nothing was written", async () => {
    const changed = { ...get("a"), output: "other" };
    const path = recording("changed.jsonl", [[get("a"), changed, get("b"), get("c")]]);
    expect(await suggest("--from", path)).not.toContain("read_only");
    const written = [get("a"), refund("a"), changed, get("b")];
    const between = recording("written.jsonl", [written]);
    expect(await suggest("--from", between)).toContain("read_only: true");
  });

  test("proposes one resource for writes that are called with one id", async () => {
    const both = [refund("a"), credit("a")];
    const yaml = await suggest("--from", recording("shared.jsonl", [both, both]));
    expect(yaml).toContain("# they change one order in 2 conversations");
    expect(yaml).toMatch(/credit_order:\n\s+effects:\n\s+- resource: order\/\{order_id\}/);
    const once = recording("once.jsonl", [both]);
    expect(await suggest("--from", once)).toContain("Nothing is suggested");
  });

  test("proposes a budget by the quantile of many turns", async () => {
    const turns = Array.from({ length: 20 }, () => [get("a"), get("b")]);
    const yaml = await suggest("--from", recording("turns.jsonl", turns));
    expect(yaml).toContain("# 99 of 100 turns have at most 2 calls, of 20 turns");
    expect(yaml).toContain("max_tool_calls: 10");
  });

  test("proposes nothing that the policy says already", async () => {
    const policy = join(directory, "policy.yaml");
    writeFileSync(policy, "tool_schemas: { get_order: { read_only: true } }\n");
    const path = recording("said.jsonl", [[get("a"), get("b"), get("c")]]);
    expect(await suggest("--from", path, "-p", policy)).toContain("Nothing is suggested");
  });

  test("reads the journal of an embedded gate", async () => {
    const dataDir = join(directory, "data");
    const gate = await openCallgate({
      policy: { tool_schemas: { get_order: {} } },
      ...{ dataDir, secret: "a secret of the suggestions 0123" },
    });
    for (const [at, id] of ["a", "b", "c"].entries()) {
      const call = { conversationId: "one", callId: `${at}`, tool: "get_order" };
      const { decisionId } = await gate.propose({ ...call, arguments: { order_id: id } });
      if (decisionId === undefined) throw new Error("the call has no decision");
      await gate.report(decisionId, { status: "succeeded", output: id });
    }
    await gate.close();
    const yaml = await suggest("--from", dataDir);
    expect(yaml).toContain("# a read by its name: 3 calls");
  });

  test("rejects sources without calls", async () => {
    const ended = await runInProcess(["policy", "suggest", "--from", recording("none.jsonl", [])]);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain("there are no calls in");
  });
});
