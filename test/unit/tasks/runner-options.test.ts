// A slip of the pen in an option ends a runner before it has begun: no check is off unnoticed.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { runnerOptions } from "../../../tasks/runner-options.js";

test("options are parsed by their types", () => {
  const options = { short: { type: "boolean" }, row: { type: "string", multiple: true } } as const;
  const args = ["--row", "a", "--short", "--row", "b"];
  expect(runnerOptions("x", options, args)).toEqual({ short: true, row: ["a", "b"] });
});

test.each([
  ["test/faults/run.ts", "--shrt", "test:faults: Unknown option '--shrt'; options: --short, --row"],
  [
    "test/faults/run.ts",
    "--row",
    "test:faults: Option '--row <value>' argument missing; options: ",
  ],
  [
    "test/faults/run.ts",
    "--minutes=abc",
    "test:faults: option '--minutes' is a number above 0, and not 'abc'",
  ],
  ["test/faults/run.ts", "--minutes=", "test:faults: option '--minutes' is a number above 0"],
  [
    "test/faults/run.ts",
    "--transaction-version=abc",
    "test:faults: option '--transaction-version' is 0 or 2, and not 'abc'",
  ],
  ["test/eval/run.ts", "--chek", "eval: Unknown option '--chek'; options: --only VALUE"],
  ["tasks/test-nodes.js", "x", "test:nodes: Unexpected argument 'x'"],
  ["tasks/test-kafka-matrix.js", "--shrt", "test:kafka-matrix: Unknown option '--shrt'"],
])("%s %s ends with code 2 and lists the options", (program, option, message) => {
  const loader = program.endsWith(".ts") ? ["--import", "tsx"] : [];
  const { status, stderr } = spawnSync(process.execPath, [...loader, program, option], {
    encoding: "utf8",
    timeout: 60_000,
  });
  expect(stderr).toContain(message);
  expect([status, stderr.trim().split("\n").length]).toEqual([2, 1]);
});
