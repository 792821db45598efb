// `callgate policy new --from`: the dialogue, the files, and what the engine says.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runInProcess } from "../../../support/memory-terminal.ts";

const text = { type: "string" };
const needs = (properties: object) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
});
const TOOLS = [
  { name: "get_order", inputSchema: needs({ order_id: text }) },
  { name: "refund_order", inputSchema: needs({ order_id: text, amount: { type: "number" } }) },
  { name: "purge_archive", inputSchema: needs({ archive_id: text }) },
  { name: "crawl_site_now", inputSchema: needs({ kind: { enum: ["a"] } }) },
  { name: "frobnicate", inputSchema: needs({ a: text }) },
];

let directory = "";

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "callgate-new-"));
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

function toolsFile(): string {
  const path = join(directory, "shop.json");
  writeFileSync(path, JSON.stringify({ tools: TOOLS }));
  return path;
}

const read = (path: string): string => readFileSync(path, "utf8");

describe("callgate policy new --from", () => {
  test("writes a policy and cases that pass, and shows three conversations", async () => {
    const out = join(directory, "yes.yaml");
    const ended = await runInProcess([
      ...["policy", "new", "--from", toolsFile(), "--yes", "-o", out],
    ]);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(
      /a write is repeated\n.*refund_order.* allowed\n.* duplicate_call\n/,
    );
    expect(ended.stdout).toMatch(/a call waits for a person\n.*purge_archive.* held\n/);
    expect(ended.stdout).toMatch(/a read is repeated\n.*allowed\n.*answered from memory/);
    expect(ended.stdout).toContain('1 tool counted as a write and marked "unsure"');
    const tested = await runInProcess(["policy", "test", "-p", out]);
    expect(tested).toMatchObject({ code: 0 });
    expect(tested.stdout).toContain("3 cases, 0 failed");
  });

  test("asks about what is unsure and about the default, and follows the answers", async () => {
    const out = join(directory, "asked.yaml");
    const ended = await runInProcess(
      ["policy", "new", "--from", toolsFile(), "-o", out],
      ["y", "maybe", "ask"],
    );
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain("Does frobnicate only read? (");
    expect(ended.stderr).not.toContain("Does get_order");
    expect(ended.stderr.split("What happens to a write")).toHaveLength(3);
    expect(read(out)).toMatch(/frobnicate:\n\s+read_only: true/);
    expect(read(out)).toContain("default: ask");
  });

  test("rejects a run without a terminal and without --yes, and writes nothing", async () => {
    const out = join(directory, "none.yaml");
    const ended = await runInProcess(["policy", "new", "--from", toolsFile(), "-o", out]);
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toContain("this is no terminal: add --yes");
    expect(existsSync(out)).toBe(false);
  });

  test("never overwrites a policy or its cases", async () => {
    const out = join(directory, "old.yaml");
    writeFileSync(join(directory, "old.test.yaml"), "cases: []\n");
    const args = ["policy", "new", "--from", toolsFile(), "--yes", "-o", out];
    const ended = await runInProcess(args);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain("old.test.yaml");
    expect(existsSync(out)).toBe(false);
  });

  test("rejects a template beside definitions, and neither", async () => {
    const both = ["policy", "new", "payments", "--from", toolsFile()];
    for (const args of [both, ["policy", "new"]]) {
      const { code, stderr } = await runInProcess(args);
      expect(code).toBe(2);
      expect(stderr).toContain("name a template, or give definitions");
    }
  });
});
