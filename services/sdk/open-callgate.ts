import { type Env, readEnv } from "../adapters/config/read-env.ts";
import { quietLogger } from "../adapters/log/quiet-logger.ts";
import { createStreamLogger, LOG_LEVELS } from "../adapters/log/stream-logger.ts";
import type { Logger } from "../runtime/ports.ts";
import { CallgateError } from "./callgate-error.ts";
import type { Callgate } from "./callgate-gate.ts";
import { composeCallgate } from "./compose-callgate.ts";
import { linkToEmbedded } from "./embedded-link.ts";
import { GateClient } from "./gate-client.ts";
import type { OpenOptions } from "./gate-types.ts";
import { openEmbedded } from "./open-embedded.ts";

const TIMEOUT_MS = 30_000;

/**
 * Opens a gate in this process, on a data directory that no other gate uses.
 *
 * @throws CallgateError: broken policy (all its problems), directory in use or not usable, no secret.
 */
export async function openCallgate(options: OpenOptions): Promise<Callgate> {
  const { policy, dataDir, secret, timeoutMs = TIMEOUT_MS, onLost } = options;
  const input = typeof policy === "string" ? { files: [policy] } : { document: policy };
  const embedded = await openEmbedded({
    policy: input,
    dataDir,
    secret,
    logger: loggerOf(readEnv()),
  });
  const link = linkToEmbedded(embedded);
  return composeCallgate(link, new GateClient(link, { timeoutMs, onLost }));
}

/** Somebody else's program is quiet unless its operator wants to hear. */
function loggerOf({ logLevel }: Env): Logger {
  if (logLevel === undefined) return quietLogger;
  const level = LOG_LEVELS.find((known) => known === logLevel);
  if (level !== undefined) return createStreamLogger(process.stderr, level);
  throw new CallgateError(
    "invalid_input",
    `CALLGATE_LOG is \`${logLevel}\`: set it to one of ${LOG_LEVELS.join(", ")}`,
  );
}
