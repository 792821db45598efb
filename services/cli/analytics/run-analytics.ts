/** `callgate analytics run`. */

import { openCluster } from "../../process/open-cluster.ts";
import { createAvroCodec } from "../../wire/codec.ts";
import { openLog } from "../cluster/open-log.ts";
import type { ExitCode } from "../output/exit-codes.ts";
import type { Terminal } from "../output/terminal.ts";
import { NO_BROKERS, openConfig } from "../process/open-config.ts";
import { type ProcessContext, runProcess } from "../process/run-process.ts";
import { untilThere } from "../process/until-there.ts";
import { type AnalyticsSource, startAnalytics } from "./analytics-service.ts";

const PORT = 8_082;

/** @param dataDir of an embedded gate; undefined: the brokers of the configuration. */
export async function runAnalytics(
  configFile: string | undefined,
  dataDir: string | undefined,
  terminal: Terminal,
): Promise<ExitCode> {
  const config = openConfig(configFile, [], dataDir === undefined ? {} : NO_BROKERS);
  return await runProcess(
    {
      ...{ service: "analytics", config, portDefault: PORT },
      start: async (context) => startAnalytics(await openSource(dataDir, context), context),
    },
    terminal,
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
  const { log, close } = openLog(dataDir);
  return { log, codec: createAvroCodec({ secrets: new Map() }), close };
}
