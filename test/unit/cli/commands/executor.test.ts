import { expect, test } from "vitest";
import { runInProcess } from "../../../support/memory-terminal.ts";

/**
 * Nothing would show it if two groups ran a tool: each reports its own run, and the second report
 * changes nothing.
 */
test("the help says that two groups of executors may not share a tool", async () => {
  const { code, stdout } = await runInProcess(["executor", "--help"]);
  expect(code).toBe(0);
  expect(stdout).toContain("two groups would both run it");
});
