// The files of `callgate policy import`: what it reads, what it writes, and what it leaves alone.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
  ])("rejects %s of %s as wrong usage and writes nothing", async (format, text, message) => {
    const tools = file("wrong.json", text);
    const out = join(directory, "wrong.yaml");
    const ended = await runInProcess(["policy", "import", tools, "-f", format, "-o", out]);

    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toContain(`wrong.json: ${message}`);
    expect(existsSync(out)).toBe(false);
  });

  test("says once what holds for several tools", async () => {
    const tools = ["alpha", "beta", "gamma"].map((name) => ({
      ...{ name, inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
    }));
    const { stderr } = await runInProcess([
      "policy",
      "import",
      file("mcp.json", JSON.stringify(tools)),
      "-f",
      "mcp",
    ]);
    const lines = stderr.trimEnd().split("\n");
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toMatch(/^note: 3 tools: .*: alpha, beta, gamma$/);
  });

  test("writes a policy to a new file, and never over an existing one", async () => {
    const tools = file("tools.json", TOOLS);
    const out = join(directory, "new.yaml");
    const importTo = (path: string) =>
      runInProcess(["policy", "import", tools, "-f", "openai", "-o", path]);

    expect(await importTo(out)).toMatchObject({ code: 0, stdout: "" });
    const policy = readFileSync(out, "utf8");
    expect(policy).toContain("charge_card");
    const again = await importTo(out);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("already exists") });
    const eaten = await importTo(join(directory, ".", "tools.json"));
    expect(eaten).toMatchObject({ code: 2, stderr: expect.stringContaining("would be lost") });
    expect(readFileSync(out, "utf8")).toBe(policy);
    expect(readFileSync(tools, "utf8")).toBe(TOOLS);
  });
});
