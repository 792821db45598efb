// `callgate policy graph` and the file it writes.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runInProcess } from "../../../../support/memory-terminal.ts";

const POLICY = "tool_schemas: { charge_card: { effects: [{ resource: card, kind: charge }] } }\n";

let directory = "";

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "callgate-graph-"));
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

test("writes a graph to a file, and never over the policy that it shows", async () => {
  const policy = join(directory, "policy.yaml");
  writeFileSync(policy, POLICY);
  const out = join(directory, "graph.txt");

  const done = await runInProcess(["policy", "graph", "-p", policy, "-o", out]);
  expect(done).toMatchObject({ code: 0, stdout: "" });
  expect(readFileSync(out, "utf8")).toContain("charge_card");
  const same = await runInProcess(["policy", "graph", "-p", policy, "-o", policy]);
  expect(same).toMatchObject({ code: 2, stderr: expect.stringContaining("would be lost") });
  expect(readFileSync(policy, "utf8")).toBe(POLICY);
});
