import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askMcpServer } from "../../../../../services/cli/policy/sources/ask-mcp-server.ts";
import { loadSources } from "../../../../../services/cli/policy/sources/load-sources.ts";

const FIXTURES = join(import.meta.dirname, "../../../../fixtures/tools");
const SERVER = `${process.execPath} ${join(FIXTURES, "mcp-server.mjs")}`;
const NOTHING = { files: [], format: null, mcp: [], modules: [] };

let directory = "";

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "callgate-sources-"));
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

function file(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

describe("tool definitions", () => {
  test.each([
    ["mcp.json", '[{"name":"a","inputSchema":{}}]', "mcp"],
    ["anthropic.json", '{"tools":[{"name":"a","input_schema":{}}]}', "anthropic"],
    ["chat.json", '[{"type":"function","function":{"name":"a"}}]', "openai"],
    ["tools.json", '[{"name":"a","readOnly":true}]', "tools"],
    ["api.yaml", "openapi: 3.1.0\npaths: {}\n", "openapi"],
  ])("of %s are recognized", async (name, content, format) => {
    const [source] = await loadSources({ ...NOTHING, files: [file(name, content)] });
    expect(source).toMatchObject({ name, format });
  });

  test.each([
    ["odd.json", "3", "its format is not recognized; name it with --format"],
    ["bad.yaml", "a: [1", "bad.yaml:1:"],
  ])("of %s are rejected", async (name, content, message) => {
    await expect(loadSources({ ...NOTHING, files: [file(name, content)] })).rejects.toThrow(
      message,
    );
  });

  test("must be there", async () => {
    await expect(loadSources(NOTHING)).rejects.toThrow("there are no tool definitions");
  });

  test("come from modules, with schemas of zod", async () => {
    const modules = [join(FIXTURES, "exported-tools.mjs")];
    const [source] = await loadSources({ ...NOTHING, modules });
    expect(source?.json).toMatchObject({
      tools: [
        { name: "getOrder", inputSchema: { required: ["orderId"] } },
        { name: "plain", inputSchema: { type: "object" } },
        { name: "send_mail", inputSchema: { required: ["to"] } },
      ],
    });
  });

  test.each([
    ["missing.mjs", null, "cannot be imported"],
    ["empty.mjs", "export const a = 1;", "exports no tools"],
  ])("of the module %s are rejected", async (name, content, message) => {
    const path = content === null ? join(directory, name) : file(name, content);
    await expect(loadSources({ ...NOTHING, modules: [path] })).rejects.toThrow(message);
  });
});

describe("an MCP server", () => {
  test("is asked for all pages of its tools, and ended", async () => {
    const [source] = await loadSources({ ...NOTHING, mcp: [SERVER] });
    expect(source?.name).toBe("mcp-server.mjs");
    expect(source?.json).toMatchObject({ tools: [{ name: "get_a" }, { name: "send_b" }] });
  });

  test("that does not answer in time is ended", async () => {
    await expect(askMcpServer(`${SERVER} late`, 500)).rejects.toThrow(
      "did not answer within 0.5 s",
    );
  });

  test.each([
    [`${SERVER} broken`, 'answered initialize with {"code":-1,"message":"no"}'],
    ["exit 3", "ended before it answered"],
  ])("that fails is reported: %s", async (command, message) => {
    await expect(askMcpServer(command)).rejects.toThrow(message);
  });
});
