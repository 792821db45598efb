// The process of a lane (lane.js): a vitest that stays alive in a changed copy of the tree. On each
// message it runs the job in its file, and reports when the job is done.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createVitest } from "vitest/node";

/** @typedef {import("vitest/node").TestSpecification} TestSpecification */

const root = process.cwd();

class InputOrderSequencer {
  /** @param {TestSpecification[]} files */
  async sort(files) {
    return files;
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
  isolate: false,
  reporters: [{}],
  include: [
    "test/{unit,conformance,property}/{core,collections}/**/*.test.ts",
    "test/unit/{adapters/policy,cli/explain}/**/*.test.ts",
  ],
  setupFiles: [join(root, "test/mutants/fixed-seed.js")],
  runner: join(root, "test/mutants/runner.js"),
  sequence: { sequencer: InputOrderSequencer },
  // A busy machine must not fail a test: the lane kills a process that does not answer (lane.js).
  testTimeout: 0,
  hookTimeout: 0,
});
const specifications = await vitest.globTestSpecifications();
const byFile = new Map(specifications.map((one) => [one.moduleId, one]));

async function run() {
  /** @type {readonly import("./lane.js").Pair[]} */
  const job = JSON.parse(readFileSync(process.env["CALLGATE_MUTANT_JOB"] ?? "", "utf8"));
  const wanted = job.flatMap(([, file]) => byFile.get(join(root, file)) ?? []);
  await vitest.runTestSpecifications(wanted, false);
  vitest.state.filesMap.clear();
  vitest.state.clearErrors();
  process.send?.("done");
}

process.on("message", () => void run());
process.send?.("ready");
