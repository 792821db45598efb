/** `callgate analytics run`. */
import { openLog } from "../approvals/find-holds.ts";
import type { ExitCode } from "../output/exit-codes.ts";
import type { Terminal } from "../output/terminal.ts";
import { openConfig } from "../process/open-config.ts";
import { runProcess } from "../process/run-process.ts";
import { type AnalyticsSource, startAnalytics } from "./analytics-service.ts";

const PORT = 8_082;
/** An embedded log needs none, and the configuration must name some. */
const NO_BROKERS = { CALLGATE_KAFKA_BROKERS: "127.0.0.1:0" };

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
      start: async (context) => {
        const source: AnalyticsSource = dataDir === undefined ? openLog(".") : openLog(dataDir);
        return await startAnalytics(source, context);
      },
    },
    terminal,
  );
}
