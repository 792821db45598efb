import { expect, test } from "vitest";
import { runInProcess } from "../../../support/memory-terminal.ts";

/** Nobody sees it when both do: each group reports its own run, and the second report changes nothing. */
test("help says that no two groups of executors may have the same tool", async () => {
  const { code, stdout } = await runInProcess(["executor", "--help"]);
  expect(code).toBe(0);
  expect(stdout).toContain("two groups would both run it");
});
