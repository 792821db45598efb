// One conversation, decided in processes that differ in everything except the input.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { saySkipped } from "../../support/skipped.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PRINT = join(ROOT, "test/support/gate-story/print-journal.ts");

function journalIn(
  env: Readonly<Record<string, string>>,
  turns = 0,
  node: string = process.execPath,
): string {
  const { status, stdout, stderr } = spawnSync(node, ["--import", "tsx", PRINT, String(turns)], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return stdout;
}

const here = journalIn({ TZ: "UTC", LANG: "C", LC_ALL: "C" });

/** The versions that `npm run test:nodes` has downloaded. */
const nodes = ["22.x", "24.x"]
  .map((version) => {
    const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
    const name = `node-${process.platform}-${process.arch}`;
    return join(cache, "callgate", "nodes", version, "node_modules", name, "bin", "node");
  })
  .filter((path) => existsSync(path));

if (nodes.length === 0) saySkipped("nodes", "`npm run test:nodes` has fetched no other Node");

test("the conversation has calls of every outcome", () => {
  const types = here
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { readonly type: string }).type);
  expect(types.length).toBeGreaterThan(20);
  for (const type of ["allowed", "refused", "held", "result_recorded", "outcome_unknown"]) {
    expect(types).toContain(type);
  }
});

test("time zone and language of the process change no byte", () => {
  const settings = [
    { TZ: "Asia/Kathmandu", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" },
    { TZ: "America/New_York", LANG: "de_DE.UTF-8", LC_ALL: "de_DE.UTF-8" },
  ];
  for (const env of settings) expect(journalIn(env)).toBe(here);
});

test("the order of members in policy and arguments changes no byte", () => {
  for (const turns of [1, 2, 5]) expect(journalIn({}, turns)).toBe(here);
});

test.skipIf(nodes.length === 0)("another version of Node changes no byte", () => {
  for (const node of nodes) expect(journalIn({}, 1, node)).toBe(here);
});
