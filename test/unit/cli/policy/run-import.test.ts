// `callgate policy import` and its files: what is read, what is written, and what is left alone.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runInProcess } from "../../../support/memory-terminal.ts";

const TOOLS = JSON.stringify([{ type: "function", function: { name: "charge_card" } }]);

let directory = "";

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "callgate-import-"));
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

describe("callgate policy import", () => {
  test.each([
    ["mcp", TOOLS, "`charge_card` has `function` and no `inputSchema`: it looks like openai"],
    ["openai", "[]", "no tool is left for the policy"],
  ])("as %s of %s is wrong usage and writes nothing", async (format, text, message) => {
    const tools = file("wrong.json", text);
    const out = join(directory, "wrong.yaml");
    const ended = await runInProcess(["policy", "import", tools, "-f", format, "-o", out]);

    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toContain(`wrong.json: ${message}`);
    expect(existsSync(out)).toBe(false);
  });
});
