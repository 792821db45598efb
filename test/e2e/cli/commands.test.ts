// The command line as a user sees it: exit codes, output streams, error messages.
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { endOf, runCallgate, startCallgate } from "../../support/run-callgate.ts";

/** A device that is always full, where the system has one. */
const FULL = "/dev/full";
const ESCAPE = "\u001b";
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const SAMPLE = join(ROOT, "infra/recordings/sample.jsonl");
const POLICY = join(ROOT, "infra/policies/demo.yaml");

let directory = "";

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "callgate-cli-"));
  // Builds first, so that no test sees the builder's messages.
  await runCallgate(["--version"]);
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const run = (args: readonly string[], input = "") => runCallgate(args, { cwd: directory, input });

describe("callgate", () => {
  test("prints only the version to stdout", async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect(await run(["--version"])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  test("prints help with every command to stdout", async () => {
    const { code, stdout, stderr } = await run(["--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const name of ["demo", "dev", "replay", "policy", "approvals"]) {
      expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, "m"));
    }
  });

  test.each([
    [[], "Usage: callgate"],
    [["replya"], "unknown command 'replya'"],
    [["replya"], "(callgate --help lists the commands)"],
    [["policy", "new"], "(callgate policy new --help lists the options)"],
    [["replay", SAMPLE], "required option '-p, --policy <file>' not specified"],
    [["replay", SAMPLE, "-p", POLICY, "--format", "xml"], "Allowed choices are table, jsonl, json"],
    [["replay", SAMPLE, "-p", POLICY, "--format", "table", "--json"], "contradict each other"],
    [["policy", "lint"], "no policy file was given"],
    [["policy", "import", POLICY], "its format is not recognized; name it with --format"],
    [["policy", "explain", "-p", POLICY], "nothing to explain"],
  ])("rejects %j as wrong usage", async (args, message) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });
});

describe("replay", () => {
  test("prints a table without colours into a pipe, and exits 0 whatever the decisions", async () => {
    const { code, stdout, stderr } = await run(["replay", SAMPLE, "--policy", POLICY]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).not.toContain(ESCAPE);
    expect(stdout).toContain("14 calls in 4 conversations");
    expect(stdout).toMatch(/^duplicate_call +5 +35\.7 %$/m);
    expect(stdout).toMatch(/sample\.jsonl:1 +5 +4 +yes +duplicate_call ×4$/m);
  });

  test("reads stdin and prints one line per call", async () => {
    const input = readFileSync(SAMPLE, "utf8");
    const args = ["replay", "-", "--policy", POLICY, "--format", "jsonl"];
    const { code, stdout } = await run(args, input);
    const lines = stdout.trimEnd().split("\n");
    expect(code).toBe(0);
    expect(lines).toHaveLength(14);
    expect(JSON.parse(lines[1] ?? "")).toEqual({
      id: "sample/stuck",
      index: 1,
      tool: "create_document",
      outcome: "refused",
      reason: "duplicate_call",
      rule: "deduplication",
      level: 1,
    });
  });

  test("writes a file, and never over what it reads", async () => {
    const out = join(directory, "out.json");
    const done = await run(["replay", SAMPLE, "-p", POLICY, "--json", "--out", out]);
    expect(done).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect(JSON.parse(readFileSync(out, "utf8"))).toMatchObject({ conversations: 4 });

    const input = file("own.jsonl", readFileSync(SAMPLE, "utf8"));
    const same = await run(["replay", input, "-p", POLICY, "--out", input]);
    expect(same).toMatchObject({ code: 2, stderr: expect.stringContaining("would be lost") });
    expect(readFileSync(input, "utf8")).toBe(readFileSync(SAMPLE, "utf8"));
  });

  test("ends quietly when its reader has gone", async () => {
    const line = `${readFileSync(SAMPLE, "utf8").split("\n")[0]}\n`;
    const many = file("many.jsonl", line.repeat(20_000));
    const args = ["replay", many, "-p", POLICY, "--format", "jsonl"];
    const child = startCallgate(args, { cwd: directory });
    const end = endOf(child);
    child.stdout?.once("data", () => child.stdout?.destroy());
    expect(await end).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("policy", () => {
  const TOOLS = [
    { name: "get_it", readOnly: true, schema: { type: "object", properties: {} } },
    { name: "set_it", schema: { type: "dict", properties: { a: { type: "float" } } } },
  ];

  test("prints only an imported policy to stdout; notes go to stderr", async () => {
    const tools = file("tools.json", JSON.stringify(TOOLS));
    const { code, stdout, stderr } = await run(["policy", "import", tools, "--format", "tools"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^# yaml-language-server/);
    expect(stderr).toMatch(/^note: set_it: /m);
    const policy = file("imported.yaml", stdout);
    expect(await run(["replay", SAMPLE, "-p", policy])).toMatchObject({ code: 0 });
  });

  test("lint exits 1 for findings, and 0 for information alone", async () => {
    const clean = await run(["policy", "lint", POLICY, "--json"]);
    const { findings } = JSON.parse(clean.stdout);
    expect(clean.code).toBe(0);
    expect(new Set(findings.map((one: { severity: string }) => one.severity))).toEqual(
      new Set(["info"]),
    );
    const loose = file("loose.yaml", "budgets: { max_tool_calls: 2 }\ntool_schemas: { t: {} }\n");
    const warned = await run(["policy", "lint", loose]);
    expect(warned).toMatchObject({ code: 1, stderr: "" });
    expect(warned.stdout).toMatch(/loose\.yaml:1:12: warning /);
  });

  test.each([
    '{"tool":"delete_customer","args":{"customer":"c-1"}}',
    '{"tool":"delete_customer","arguments":"{\\"customer\\":\\"c-1\\"}"}',
  ])("explain of %s shows the check that decides", async (call) => {
    const { code, stdout } = await run(["policy", "explain", "-p", POLICY, "--call", call]);
    expect(code).toBe(0);
    expect(stdout).toContain("delete_customer, a write: held (approval_required)");
    expect(stdout).toMatch(/^11 +tier +decides approval_required .*demo\.yaml:\d+:\d+$/m);
  });
});

describe("bad input", () => {
  const CASES: readonly (readonly [
    name: string,
    args: () => readonly string[],
    code: number,
    message: RegExp,
  ])[] = [
    [
      "a broken policy",
      () => ["replay", SAMPLE, "-p", file("p1.yaml", "preset: balanced\nmode: loud\n")],
      2,
      /p1\.yaml:2:7: mode: must be .*; write /,
    ],
    [
      "an unknown key",
      () => ["replay", SAMPLE, "-p", file("p2.yaml", "budgest: {}\n")],
      2,
      /p2\.yaml:1:1: .*budgest.*; /,
    ],
    [
      "a policy that is no YAML",
      () => ["replay", SAMPLE, "-p", file("p3.yaml", "a: [1\nb: 2\n")],
      2,
      /p3\.yaml:\d+:\d+: /,
    ],
    [
      "a policy that does not compile",
      () => [
        "replay",
        SAMPLE,
        "-p",
        file("p4.yaml", "tool_schemas:\n  t:\n    error_patterns: ['(']\n"),
      ],
      2,
      /p4\.yaml:3:\d+: /,
    ],
    ["an unreadable policy", () => ["replay", SAMPLE, "-p", "nowhere.yaml"], 3, /no such file/],
    ["an unreadable recording", () => ["replay", "nowhere", "-p", POLICY], 3, /no such file/],
    ["a directory", () => ["replay", directory, "-p", POLICY], 3, /it is a directory/],
    [
      "a result that cannot be written",
      () => ["replay", SAMPLE, "-p", POLICY, "--out", join(directory, "no", "out")],
      3,
      /cannot write it: its directory does not exist; create the directory, or name another/,
    ],
    [
      "a broken recording",
      () => ["replay", file("r1.jsonl", '{"id":"a","calls":[]}\n{oops\n'), "-p", POLICY],
      2,
      /r1\.jsonl:2:2: the line is not one JSON value .*\n.*1 line was left out/,
    ],
    [
      "definitions that are no JSON",
      () => ["policy", "import", file("t1.json", '[\n {"name": }\n]'), "-f", "mcp"],
      2,
      /t1\.json:2:\d+: not JSON/,
    ],
    [
      "a data directory without a log",
      () => ["approvals", "list", "--data-dir", directory],
      3,
      /holds no log of a gate; name its directory/,
    ],
  ];

  test.each(CASES)(
    "is reported with its location and a remedy: %s",
    async (_, args, code, message) => {
      const ended = await run(args());
      expect(ended.code).toBe(code);
      expect(ended.stderr).toMatch(message);
      expect(ended.stderr).not.toMatch(/^\s+at /m);
    },
  );

  const READERS = [
    ["verify"],
    ["explain", "abcdef"],
    ["tail"],
    ["dlq", "list"],
    ["backtest", "--candidate", POLICY],
  ];

  test.each(READERS)("is reported if there is no log to read: %s", async (...args) => {
    const ended = await run(args);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain(
      ".callgate: holds no log of a gate; name its directory (--data-dir), or the brokers",
    );
  });

  test.skipIf(!existsSync(FULL))(
    "is reported if the disk is full, for a file and for stdout",
    async () => {
      const args = ["replay", SAMPLE, "-p", POLICY];
      const message = /cannot write it: the disk is full; make room/;
      const toFile = await run([...args, "--out", FULL]);
      expect(toFile).toMatchObject({ code: 3, stderr: expect.stringMatching(message) });
      const stdout = openSync(FULL, "w");
      try {
        const ended = await endOf(startCallgate(args, { cwd: directory, stdout }));
        expect(ended).toMatchObject({ code: 3, stderr: expect.stringMatching(message) });
      } finally {
        closeSync(stdout);
      }
    },
  );

  test("is reported as JSON on stderr with --json", async () => {
    const { code, stdout, stderr } = await run(["replay", "nowhere", "-p", POLICY, "--json"]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(JSON.parse(stderr)).toMatchObject({
      error: { exitCode: 3, messages: [expect.any(String)] },
    });
    const wrong = await run(["tail", "--limit", "none", "--json"]);
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    const messages = [expect.stringMatching(/^option '--limit <number>' argument 'none' is inv/)];
    expect(JSON.parse(wrong.stderr)).toEqual({ error: { exitCode: 2, messages } });
  });
});
