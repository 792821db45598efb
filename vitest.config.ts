import { defineConfig } from "vitest/config";

const SECOND_MS = 1_000;

type ProjectOptions = {
  readonly include?: readonly string[];
  readonly testTimeout?: number;
  readonly setupFiles?: readonly string[];
};

/** One project for each test level; a level is a folder of `test/`. */
function project(name: string, options: ProjectOptions = {}) {
  return {
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`, ...(options.include ?? [])],
      setupFiles: [...(options.setupFiles ?? [])],
      testTimeout: options.testTimeout ?? 10 * SECOND_MS,
      hookTimeout: options.testTimeout ?? 10 * SECOND_MS,
      // By default every project would run every bench; the benches have a runner of their own.
      benchmark: { include: [] },
    },
  };
}

const pure = { setupFiles: ["test/support/purity-guard.ts"] };

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    passWithNoTests: true,
    allowOnly: false,
    projects: [
      project("unit", { ...pure, include: ["test/tidy.test.ts"] }),
      project("property", { ...pure, testTimeout: 60 * SECOND_MS }),
      project("conformance", { testTimeout: 120 * SECOND_MS }),
      project("simulation", { testTimeout: 240 * SECOND_MS }),
      project("golden", { testTimeout: 60 * SECOND_MS }),
      project("integration", { testTimeout: 120 * SECOND_MS }),
      project("e2e", { testTimeout: 240 * SECOND_MS }),
    ],
  },
});
