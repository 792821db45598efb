import { expect, test } from "vitest";
import { runInProcess } from "../../../support/memory-terminal.ts";

const POLICY = [
  "tool_schemas:",
  "  send: { read_only: false, risk_level: LOW }",
  "mode: shadow",
  "authorization: { default: ask }",
];

test("checks a policy on stdin, with line numbers", async () => {
  const { code, stdout } = await runInProcess(["policy", "lint", "-"], POLICY);
  expect(stdout).toContain("stdin:3:1: info mode: the policy decides and refuses nothing");
  expect(code).toBe(0);
  const wrong = await runInProcess(["policy", "lint", "-p", "-"], ["mode: off", "tols: 1"]);
  expect(wrong.stdout).toContain("stdin:2:1: error");
  expect(wrong.code).toBe(1);
});

test("reads stdin only once", async () => {
  const { code, stderr } = await runInProcess(["policy", "lint", "-", "-"], POLICY);
  expect(stderr).toContain("`-` is given twice");
  expect(code).toBe(2);
});
