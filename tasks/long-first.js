// The order in which `npm test` starts test files. A long file that starts last leaves the other workers idle.
import { relative, sep } from "node:path";
import { BaseSequencer } from "vitest/node";

/** The longest files of each lane, the longest first; the rest follow by level, larger files first. */
export const LONG_FILES = [
  "test/integration/kafka/acls.test.ts",
  "test/e2e/python-client.test.ts",
  "test/e2e/serve/abuse.test.ts",
  "test/integration/kafka/safeguards.test.ts",
  "test/e2e/serve/workers.test.ts",
  "test/e2e/executor-conformance.test.ts",
  "test/e2e/serve/openapi.test.ts",
  "test/e2e/cli/replay-memory.test.ts",
  "test/integration/processes/gate-and-executor.test.ts",
  "test/e2e/add-check.test.ts",
  "test/integration/kafka/fenced-in-turn.test.ts",
  "test/simulation/stream-task.test.ts",
  "test/property/core/laws.test.ts",
  "test/property/core/bounds.test.ts",
  "test/property/core/differential.test.ts",
];

/**
 * @template T
 * @param {readonly T[]} files
 * @param {(file: T) => string} pathOf from the root of the repository, with `/`
 * @returns {T[]} the same files: the long ones first, the others as they were
 */
export function longFirst(files, pathOf) {
  const rank = (/** @type {T} */ file) => {
    const at = LONG_FILES.indexOf(pathOf(file));
    return at < 0 ? LONG_FILES.length : at;
  };
  return files.toSorted((first, second) => rank(first) - rank(second));
}

export class LongFirst extends BaseSequencer {
  /**
   * @override
   * @param {import("vitest/node").TestSpecification[]} files
   */
  async sort(files) {
    const { root } = this.ctx.config;
    return longFirst(await super.sort(files), ({ moduleId }) =>
      relative(root, moduleId).split(sep).join("/"),
    );
  }
}
