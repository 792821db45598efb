/** `callgate analytics run`. */

import { openLog } from "../process/directory/open-log.ts";
import type { ExitCode } from "../process/exit-error.ts";
import { openCluster } from "../process/open-cluster.ts";
import { NO_BROKERS, openConfig } from "../process/open-config.ts";
import { type ProcessContext, type ProcessOutput, runProcess } from "../process/run-process.ts";
import { untilThere } from "../process/wait-for-cluster.ts";
import { type AnalyticsSource, startAnalytics } from "./start-analytics.ts";

const PORT = 8_082;

/** @param dataDir directory of an embedded gate; undefined: the brokers of the configuration. */
export async function runAnalytics(
  configFile: string | undefined,
  dataDir: string | undefined,
  output: ProcessOutput,
): Promise<ExitCode> {
  const config = openConfig(configFile, [], dataDir === undefined ? {} : NO_BROKERS);
  return await runProcess(
    {
      ...{ service: "analytics", config, portDefault: PORT },
      start: async (context) => startAnalytics(await openSource(dataDir, context), context),
    },
    output,
  );
}

async function openSource(
  dataDir: string | undefined,
  context: ProcessContext,
): Promise<AnalyticsSource> {
  if (dataDir === undefined) {
    const { config, logger } = context;
    return await untilThere(() => openCluster(config, new Map(), logger), context);
  }
  return openLog(dataDir);
}
