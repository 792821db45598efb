// What an approver sees of a held call is what runs: nothing is hidden, and nothing is made up.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Callgate, openCallgate } from "../../../services/library/callgate.ts";
import { runInProcess } from "../../support/memory-terminal.ts";

const POLICY = {
  authorization: {
    tiers: [{ name: "care", pattern: "delete_*", action: "hitl", expires_ms: 900_000 }],
  },
  checks: { near_duplicate: "off" },
} as const;

let dataDir = "";
let gate: Callgate;
let calls = 0;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "callgate-shown-"));
  gate = await openCallgate({ policy: POLICY, dataDir });
});
afterAll(async () => {
  await gate.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function held(conversationId: string, args: object): Promise<string> {
  calls += 1;
  const call = { conversationId, callId: `c${calls}`, tool: "delete_row", arguments: args };
  const { approvalId, refusal } = await gate.propose(call);
  if (approvalId === undefined) throw new Error(`not held: ${refusal?.message}`);
  return approvalId;
}

async function run(...args: string[]): Promise<string> {
  return (await runInProcess(["approvals", ...args, "-d", dataDir])).stdout;
}

it("escapes invisible characters one by one, in the list and in the arguments", async () => {
  const id = await held("unseen", { path: "/data/a\u200b\u200b", "k\u3164": "b\u{e0041}\u2800" });
  const listed = await run("list");
  const shown = await run("show", id);

  expect(listed).toContain('{"k\\u{3164}":"b\\u{e0041}\\u{2800}","path…');
  expect(shown).toContain('    "path": "/data/a\\u{200b}\\u{200b}"');
  expect(shown).toContain('    "k\\u{3164}": "b\\u{e0041}\\u{2800}"');
});

it("distinguishes a literal escape from an escaped character", async () => {
  const shown = await run("show", await held("written", { path: "/data/a\\u{200b}" }));

  expect(shown).toContain('    "path": "/data/a\\\\u{200b}"');
});

it("shows differences that are invisible or far behind", async () => {
  const far = "x".repeat(300);
  await held("differ", { path: "/data/a", far: `${far}1`, same: true });
  const shown = await run(
    "show",
    await held("differ", { path: "/data/a\u200b", far: `${far}2`, same: true, toString: 1 }),
  );

  expect(shown).toContain('    path: "/data/a", now "/data/a\\u{200b}"\n');
  expect(shown).toMatch(/ {4}far: "x{198}…, now "x{198}… \(they differ further on\)\n/);
  expect(shown).toContain("    toString: absent, now 1\n");
});
