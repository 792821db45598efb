/** `callgate notify run`. */
import { notifyDirectoryOf } from "../process/directory/notify-directory.ts";
import { openLog } from "../process/directory/open-log.ts";
import { type ExitCode, environmentError } from "../process/exit-error.ts";
import { openCluster } from "../process/open-cluster.ts";
import { NO_BROKERS, openConfig } from "../process/open-config.ts";
import {
  type ProcessContext,
  type ProcessOutput,
  type RunningService,
  runProcess,
} from "../process/run-process.ts";
import { isFileError } from "../process/text-files.ts";
import { untilThere } from "../process/wait-for-cluster.ts";
import { type Notifier, type NotifierParts, startNotifier } from "./notifier.ts";

const PORT = 8_083;
/** An idle log is read every second. One that was not read for so long cannot be read. */
const UNREAD_MS_MAX = 10_000;

export type NotifyOptions = {
  readonly config: string | undefined;
  /** Directory of an embedded gate; undefined: the brokers of the configuration. */
  readonly dataDir: string | undefined;
  /** Where the first start begins to read. */
  readonly from: "start" | "end";
};

type Source = Pick<NotifierParts, "log" | "codec"> & { close(): Promise<void> };

export async function runNotify(options: NotifyOptions, output: ProcessOutput): Promise<ExitCode> {
  const { config: file, dataDir } = options;
  const config = openConfig(file, ["notify.targets"], dataDir === undefined ? {} : NO_BROKERS);
  return await runProcess(
    {
      ...{ service: "notify", config, portDefault: PORT },
      start: async (context) => start(await openSource(dataDir, context), options, context),
    },
    output,
  );
}

async function openSource(dataDir: string | undefined, context: ProcessContext): Promise<Source> {
  if (dataDir !== undefined) return openLog(dataDir);
  const { config, logger } = context;
  return await untilThere(() => openCluster(config, new Map(), logger), context);
}

async function start(
  source: Source,
  { dataDir, from }: NotifyOptions,
  context: ProcessContext,
): Promise<RunningService> {
  const { config, logger, metrics, fail } = context;
  const directory = notifyDirectoryOf(config, dataDir);
  const { targets, source: name, timeoutMs } = config.notify;
  const { log, codec } = source;
  const parts = { log, codec, targets, directory, logger, metrics, fail, from, timeoutMs };
  const begin = () => startNotifier({ ...parts, source: name });
  const notifier = await untilThere(begin, context).catch((error: unknown) => {
    if (!isFileError(error)) throw error;
    const remedy = "name a directory that can be made and written (CALLGATE_NOTIFY_DIRECTORY)";
    const what = `\`${directory}\` cannot be used: ${error.message}`;
    throw environmentError(`notify.directory: ${what}; ${remedy}`, error);
  });
  logger.info("tells its targets", { targets: targets.map(({ id }) => id).join(","), directory });
  return {
    ready: () => readinessOf(notifier),
    close: async () => {
      await notifier.close();
      await source.close();
      return true;
    },
  };
}

/** A receiver that is away is no reason: what it has to hear of waits for it. */
function readinessOf(notifier: Notifier) {
  const { unreadMs, partitions, targets } = notifier.status();
  const ok = unreadMs !== null && unreadMs <= UNREAD_MS_MAX;
  return { ok, detail: { unreadMs, targets, partitions } };
}
