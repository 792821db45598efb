import type { Env } from "../adapters/config/read-env.ts";
import { createStreamLogger, LOG_LEVELS } from "../adapters/log/stream-logger.ts";
import { CallgateError } from "../client/api/callgate-error.ts";
import type { Logger } from "../runtime/ports.ts";
import { quietLogger } from "../runtime/quiet-logger.ts";

/**
 * Logs nothing by default, because the process is somebody else's; its operator may set
 * `CALLGATE_LOG`. @throws CallgateError
 */
export function loggerOf({ logLevel }: Env): Logger {
  if (logLevel === undefined) return quietLogger;
  const level = LOG_LEVELS.find((name) => name === logLevel);
  if (level !== undefined) return createStreamLogger(process.stderr, level);
  throw new CallgateError(
    "invalid_input",
    `CALLGATE_LOG is \`${logLevel}\`: set it to one of ${LOG_LEVELS.join(", ")}`,
  );
}
