// /openapi.json is valid, and no answer of the server is one that it does not describe.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findPython } from "../../support/python/python.ts";
import { ServeProcess } from "../../support/serve/serve-process.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const REQUIREMENTS = join(ROOT, "test/support/python/schemathesis.txt");
const REDOCLY = join(ROOT, "node_modules/@redocly/cli/bin/cli.js");
const RULES = join(ROOT, "test/support/serve/redocly.yaml");
const POLICY = `
authorization:
  tiers:
    - { name: ask, pattern: "delete_*", action: hitl, expires_ms: 900000 }
    - { name: rest, pattern: "*", action: allowlist }
unknown_tools: allow
`;
const CALLS = 30;

const python = await findPython(REQUIREMENTS);

let server: ServeProcess;
let directory = "";
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "callgate-openapi-"));
  server = await ServeProcess.start({ policy: POLICY });
});
afterAll(async () => {
  await server.end();
  rmSync(directory, { recursive: true, force: true });
});

type Run = { readonly code: number; readonly output: string };

function run(program: string, args: readonly string[]): Promise<Run> {
  const env = {
    ...{ PATH: process.env["PATH"], HOME: directory },
    ...{ REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
  };
  return new Promise((resolve) => {
    execFile(program, args, { cwd: directory, env, maxBuffer: 2 ** 26 }, (error, out, err) => {
      const code = error === null ? 0 : Number(error.code ?? 1);
      resolve({ code, output: `${out}${err}` });
    });
  });
}

test("the description has no error and no warning", async () => {
  const file = join(directory, "openapi.json");
  writeFileSync(file, (await server.send("GET", "/openapi.json")).text);
  const { code, output } = await run(process.execPath, [REDOCLY, "lint", file, "--config", RULES]);
  expect(code, output).toBe(0);
  expect(output).toContain("Your API description is valid");
});

/** Ids of calls that exist, so that requests reach more than "there is no such thing". */
async function makeCalls(token: string) {
  const propose = async (at: number, tool: string) => {
    const body = { conversationId: `seed-${at}`, tool, arguments: { at } };
    return (await server.send("POST", "/v1/proposals", { token, body })).body;
  };
  const decisions: string[] = [];
  const approvals: string[] = [];
  for (let at = 0; at < CALLS; at += 1) {
    const { decisionId } = await propose(at, "get_order");
    decisions.push(decisionId);
    if (at % 2 === 0) {
      const body = { status: "succeeded", output: { at } };
      await server.send("POST", `/v1/decisions/${decisionId}/result`, { token, body });
    }
    const held = await propose(at, "delete_order");
    decisions.push(held.decisionId);
    approvals.push(held.approvalId);
  }
  return { decisions, approvals };
}

test.skipIf(!python.available)(
  "answers of every kind are those of the description, and none is a fault of the server",
  async () => {
    const roles = ["propose", "execute", "approve", "read", "admin"] as const;
    const token = server.token(roles, { platform: true, name: "all" });
    const { decisions, approvals } = await makeCalls(token);
    const conversations = decisions.map((_id, at) => `seed-${at}`);
    const ids = {
      ...{ decisionId: decisions, approvalId: approvals, taskId: approvals },
      conversationId: conversations,
    };
    const parameters = Object.entries(ids).map(
      ([name, values]) => `"path.${name}" = ${JSON.stringify([...values.slice(0, 40), "none"])}`,
    );
    const config = join(directory, "schemathesis.toml");
    // A longer wait would only take time.
    writeFileSync(
      config,
      ["[parameters]", ...parameters, '"query.wait" = [0, 0.01]', ""].join("\n"),
    );
    const checks = [
      "not_a_server_error",
      "response_schema_conformance",
      "status_code_conformance",
      "content_type_conformance",
    ].join();
    const { code, output } = await run(python.path, [
      ...["-m", "schemathesis.cli", "--config-file", config, "run", `${server.url}/openapi.json`],
      // A stream has no end, and a claim waits as long as its body says.
      ...["--exclude-path", "/v1/events", "--exclude-path", "/v1/executions"],
      ...["--header", `Authorization: Bearer ${token}`, "--checks", checks],
      ...["--max-examples", "20", "--seed", "1", "--request-timeout", "20", "--no-color"],
    ]);
    expect(code, output).toBe(0);
    const [, generated, passed] = /(\d+) generated, (\d+) passed/.exec(output) ?? [];
    expect(Number(generated), output).toBeGreaterThan(500);
    expect(passed).toBe(generated);
    expect(server.log).not.toContain('"level":"error"');
  },
);
