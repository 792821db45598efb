// The process of a lane (lane.js): a vitest that stays, in a changed copy of the tree. For every list
// of test files it runs them in that order until one fails, and answers `{ by, ran }`.
import { join, relative } from "node:path";
import { createVitest } from "vitest/node";

/** @typedef {import("vitest/node").TestSpecification} TestSpecification */

const root = process.cwd();

/** @type {readonly string[]} */
let wanted = [];

class AsWanted {
  /** @param {TestSpecification[]} files */
  async sort(files) {
    return [...files].sort((a, b) => wanted.indexOf(a.moduleId) - wanted.indexOf(b.moduleId));
  }

  /** @param {TestSpecification[]} files */
  async shard(files) {
    return files;
  }
}

const vitest = await createVitest("test", {
  root,
  config: false,
  watch: false,
  pool: "forks",
  maxWorkers: 1,
  isolate: true,
  bail: 1,
  reporters: [{}],
  include: ["test/{unit,property,conformance}/core/**/*.test.ts"],
  setupFiles: [join(root, "test/support/purity-guard.ts"), join(root, "test/mutants/setup.js")],
  sequence: { sequencer: AsWanted },
  // A busy machine fails no test: what never ends is ended by who asked (lane.js).
  testTimeout: 0,
  hookTimeout: 0,
});
const all = await vitest.globTestSpecifications();

/** @param {readonly string[]} files */
async function run(files) {
  wanted = files.map((file) => join(root, file));
  vitest.state.filesMap.clear();
  await vitest.runTestSpecifications(
    all.filter(({ moduleId }) => wanted.includes(moduleId)),
    false,
  );
  const modules = vitest.state.getTestModules();
  const failed = modules.find((module) => !module.ok())?.moduleId;
  const broken = vitest.state.getUnhandledErrors().length > 0 ? wanted[0] : undefined;
  const by = failed ?? broken;
  vitest.state.clearErrors();
  process.send?.({ by: by === undefined ? null : relative(root, by), ran: modules.length });
}

process.on("message", (files) => {
  void run(/** @type {readonly string[]} */ (files));
});
process.send?.("ready");
