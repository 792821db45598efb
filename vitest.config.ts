import { defineConfig } from "vitest/config";
import { LongFirst } from "./tasks/long-first.js";

const SECOND_MS = 1_000;

type ProjectOptions = {
  readonly include?: readonly string[];
  readonly testTimeout?: number;
  readonly setupFiles?: readonly string[];
  readonly globalSetup?: string;
  readonly isolate?: boolean;
};

/**
 * One project for each test level; a level is a folder of `test/`. Time limits end what hangs: no test
 * comes near them on an idle machine, and ten times slower they still hold.
 */
function project(name: string, options: ProjectOptions = {}) {
  const testTimeout = options.testTimeout ?? 60 * SECOND_MS;
  return {
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`, ...(options.include ?? [])],
      setupFiles: [...(options.setupFiles ?? [])],
      globalSetup: options.globalSetup ?? [],
      isolate: options.isolate ?? true,
      testTimeout,
      hookTimeout: testTimeout,
      // Vitest's own second is too short for a machine that is busy with something else.
      expect: { poll: { timeout: testTimeout / 2 } },
      // By default every project would run every bench; the benches have a runner of their own.
      benchmark: { include: [] },
    },
  };
}

/** Files share a worker and what it has loaded: loading modules took more than half of their time. */
const shared = { isolate: false };
const pure = { ...shared, setupFiles: ["test/support/purity-guard.ts"] };

// Starts a real Kafka, Redis or registry when a test asks for one, and nothing otherwise.
const backends = { globalSetup: "test/support/backends/global-setup.ts" };
const sharedBackends = { ...shared, ...backends };

export default defineConfig({
  test: {
    pool: "forks",
    // More than two cores: tests of processes and brokers wait most of their time.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
    passWithNoTests: true,
    // `npm run coverage`: of what the package ships, also where no test loads it.
    coverage: {
      provider: "v8",
      include: ["services/**/*.ts"],
      reporter: ["text-summary", "json-summary", "html"],
    },
    allowOnly: false,
    projects: [
      project("unit", { ...pure, include: ["test/*.test.ts"] }),
      project("property", { ...pure, testTimeout: 300 * SECOND_MS }),
      project("conformance", { ...sharedBackends, testTimeout: 300 * SECOND_MS }),
      project("simulation", { ...backends, testTimeout: 600 * SECOND_MS }),
      project("golden", { ...shared, testTimeout: 300 * SECOND_MS }),
      project("integration", { ...sharedBackends, testTimeout: 300 * SECOND_MS }),
      project("e2e", { ...sharedBackends, testTimeout: 600 * SECOND_MS }),
    ],
  },
});
