// What `callgate explain` shows of outputs and errors that are compared without some of their parts.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Callgate, openCallgate } from "../../../services/library/callgate.ts";
import { runInProcess } from "../../support/memory-terminal.ts";

let dataDir = "";
let gate: Callgate;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "callgate-masks-"));
  const tool_schemas = { search: { read_only: true }, send: {} };
  gate = await openCallgate({ policy: { tool_schemas }, dataDir });
});
afterAll(async () => {
  await gate.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function explained(tool: string, args: object, result: object): Promise<string> {
  const call = { conversationId: "c", callId: tool, tool, arguments: args };
  const { decisionId } = await gate.propose(call);
  await gate.report(decisionId ?? "", result as Parameters<Callgate["report"]>[1]);
  return (await runInProcess(["explain", decisionId ?? "", "-d", dataDir])).stdout;
}

it("shows which parts of an output are masked, and why", async () => {
  const output = '{"query":"kiln manual","hits":3,"search_id":"s-40024","took_ms":12}';
  const text = await explained("search", { query: "kiln manual" }, { status: "succeeded", output });
  expect(text).toMatch(/^masked +repeated argument "kiln manual"/m);
  expect(text).toContain('id of a request, search, query or trace search_id":"s-40024');
  expect(text).toContain('duration, age or time in a JSON member "took_ms":12');
  expect(text).toContain("left out where calls are compared");
});

it("shows what an error repeats of the arguments of a write", async () => {
  const error = { code: null, message: "unknown agent 'legal-review'", retryable: false };
  const text = await explained("send", { to: "legal-review" }, { status: "failed", error });
  expect(text).toMatch(/^masked +repeated argument 'legal-review'/m);
});
