// The process of a lane (lane.js): a vitest that stays, in a changed copy of the tree. When it is
// told to it runs the job that stands in its file, and says when that is done.
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
  include: ["test/{unit,conformance}/core/**/*.test.ts"],
  runner: join(root, "test/mutants/runner.js"),
  sequence: { sequencer: InputOrderSequencer },
  // A busy machine fails no test: what never ends is ended by who asked (lane.js).
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
