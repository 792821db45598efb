import { formatConfigProblem } from "../adapters/config/config-problem.ts";
import type { Config } from "../adapters/config/config-schema.ts";
import { loadConfig } from "../adapters/config/load-config.ts";
import { readConfigVariables } from "../adapters/config/read-env.ts";
import { usageError } from "./exit-error.ts";

const FILE_VARIABLE = "CALLGATE_CONFIG";
const BROKERS_VARIABLE = "CALLGATE_KAFKA_BROKERS";

/** A preset for commands that contact no broker, since the configuration must name some. */
export const NO_BROKERS = { [BROKERS_VARIABLE]: "127.0.0.1:1" } as const;

/** Whether the configuration names brokers, which `NO_BROKERS` had preset. */
export function namesBrokers({ kafka }: Config): boolean {
  return kafka.brokers.join() !== NO_BROKERS[BROKERS_VARIABLE];
}

/** Whether a file or the environment configures a cluster. */
export function namesCluster(file: string | undefined): boolean {
  const variables = readConfigVariables();
  return file !== undefined || variables.has(FILE_VARIABLE) || variables.has(BROKERS_VARIABLE);
}

/**
 * The configuration of this process: from the file in `file` or `CALLGATE_CONFIG`, overridden by
 * the environment.
 *
 * @param needs keys that the process cannot do without.
 * @param presets variables for keys that nobody set.
 * @throws ExitError that lists every problem.
 */
export function openConfig(
  file: string | undefined,
  needs: readonly string[],
  presets: Readonly<Record<string, string>> = {},
): Config {
  const variables = readConfigVariables();
  const result = loadConfig({
    ...{ file: file ?? variables.get(FILE_VARIABLE), variables, needs },
    presets: new Map(Object.entries(presets)),
  });
  if (result.ok) return result.config;
  const count = result.problems.length === 1 ? "a problem" : `${result.problems.length} problems`;
  const lines = result.problems.map(formatConfigProblem);
  throw usageError([
    `the configuration has ${count}; docs/configuration.md lists the keys`,
    ...lines,
  ]);
}
