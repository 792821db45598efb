import type { Config } from "../adapters/config/config-schema.ts";
import type { Notifier, NotifierParts } from "../notify/notifier.ts";
import { notifyDirectoryOf } from "../process/directory/notify-directory.ts";
import { environmentError } from "../process/exit-error.ts";
import { isFileError } from "../process/text-files.ts";
import type { GateSource } from "./open-served-gate.ts";
import type { ServedGate } from "./served-gate.ts";

/**
 * Starts the webhooks of an embedded gate. On Kafka `callgate notify run` sends them: otherwise each
 * of several servers would. @returns null: none are configured, or another process sends them.
 * @throws ExitError, PipelineError as `startNotifier`
 */
export async function startWebhooks(
  { link, logger }: ServedGate,
  source: GateSource,
  config: Config,
  parts: Pick<NotifierParts, "metrics" | "fail">,
): Promise<Notifier | null> {
  const { targets, source: name, timeoutMs } = config.notify;
  if (targets.length === 0) return null;
  if (source.kind === "kafka") {
    logger.info("webhooks are sent by `callgate notify run`, not by this server");
    return null;
  }
  const { startNotifier } = await import("../notify/notifier.ts");
  const directory = notifyDirectoryOf(config, source.dataDir);
  const { log, codec } = link;
  try {
    const all = { log, codec, targets, directory, logger, source: name, timeoutMs, ...parts };
    return await startNotifier(all);
  } catch (error) {
    if (!isFileError(error)) throw error;
    const what = `\`${directory}\` cannot be used: ${error.message}`;
    throw environmentError(`notify.directory: ${what}; name another`, error);
  }
}
