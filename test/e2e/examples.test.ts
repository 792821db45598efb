// The examples as a user copies them: in a directory of their own, with the package beside them. The
// executor's handlers and the consumer of decisions run in test/integration/processes/readme-kafka.test.ts.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const EXAMPLES = join(REPOSITORY, "examples");

test("each example is in the list of examples", () => {
  const page = readFileSync(join(EXAMPLES, "README.md"), "utf8");
  const folders = readdirSync(EXAMPLES, { withFileTypes: true }).filter((one) => one.isDirectory());
  expect(folders.length).toBeGreaterThan(2);
  expect(folders.map(({ name }) => name).filter((name) => !page.includes(`| [${name}](`))).toEqual(
    [],
  );
});

describe("the agent loop", () => {
  let directory = "";
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "callgate-example-"));
    cpSync(join(EXAMPLES, "agent-loop"), directory, { recursive: true });
    writeFileSync(join(directory, "package.json"), '{"type":"module"}');
    const compilerOptions = {
      noEmit: true,
      rootDir: "/",
      typeRoots: [join(REPOSITORY, "node_modules/@types")],
      paths: { callgate: [join(REPOSITORY, "services/library/callgate.ts")] },
    };
    const extended = { extends: join(REPOSITORY, "tsconfig.json"), compilerOptions };
    writeFileSync(
      join(directory, "tsconfig.json"),
      JSON.stringify({ ...extended, include: [join(directory, "*.mts")] }),
    );
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  function runNode(...args: readonly string[]) {
    return spawnSync(process.execPath, args, { cwd: directory, encoding: "utf8" });
  }

  test("runs a call, answers its repeat, refuses a second charge, and asks a person", () => {
    const tsx = join(REPOSITORY, "node_modules/tsx/dist/cli.mjs");
    const { status, stdout, stderr } = runNode(tsx, "--tsconfig", "tsconfig.json", "agent.mts");
    expect(stderr).toBe("");
    expect(stdout.trimEnd().split("\n")).toEqual([
      'ran     get_order {"order":"7","total":"100.00"}',
      expect.stringMatching(/^memory {2}get_order \{"order":"7","total":"100.00"/),
      'ran     charge_card {"receipt":"order 7: 100.00","key":true}',
      "refused charge_card: duplicate_call",
      'ask     delete_customer {"customer_id":"ann"}',
      'ran     delete_customer {"deleted":"ann"}',
      "the model read 5 answers",
    ]);
    expect(status).toBe(0);
  });
});
