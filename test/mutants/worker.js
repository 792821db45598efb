// One lane of the mutation check: a vitest that stays, in a changed copy of the tree. For every message
// `{ id, files }` it runs these test files with that change in force, and answers `{ id, failed, ran }`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createVitest } from "vitest/node";

const root = process.cwd();

const vitest = await createVitest("test", {
  root,
  config: false,
  watch: false,
  pool: "forks",
  maxWorkers: 1,
  isolate: true,
  bail: 1,
  reporters: [{}],
  include: ["test/{unit,property}/core/**/*.test.ts"],
  setupFiles: [join(root, "test/support/purity-guard.ts"), join(root, "test/mutants/setup.js")],
  testTimeout: 30_000,
});

/** @param {{ id: number, files: string[] }} message */
async function run({ id, files }) {
  writeFileSync(process.env["CALLGATE_MUTANT_FILE"] ?? "", String(id));
  const wanted = new Set(files.map((file) => join(root, file)));
  const all = await vitest.globTestSpecifications();
  const specifications = all.filter(({ moduleId }) => wanted.has(moduleId));
  vitest.state.filesMap.clear();
  await vitest.runTestSpecifications(specifications, false);
  const modules = vitest.state.getTestModules();
  const failed =
    modules.some((module) => !module.ok()) || vitest.state.getUnhandledErrors().length > 0;
  vitest.state.clearErrors();
  process.send?.({ id, failed, ran: modules.length });
}

process.on("message", (message) => {
  void run(/** @type {{ id: number, files: string[] }} */ (message));
});
process.send?.({ ready: true });
