import { formatConfigProblem } from "../adapters/config/config-problem.ts";
import type { Config } from "../adapters/config/config-schema.ts";
import { configOf } from "../adapters/config/load-config.ts";
import { readEnv } from "../adapters/config/read-env.ts";
import { secretsFrom } from "../adapters/config/secret-file.ts";
import { createTelemetry } from "../adapters/opentelemetry/open-telemetry.ts";
import { systemClock } from "../adapters/system/clock.ts";
import type { Callgate } from "../client/api/callgate.ts";
import { asCallgateError, CallgateError } from "../client/api/callgate-error.ts";
import type { ConnectOptions } from "../client/api/connect-types.ts";
import type { SecretOption } from "../client/api/gate-types.ts";
import { composeCallgate } from "../client/compose-callgate.ts";
import { GateClient } from "../client/gate-client.ts";
import { linkToRemote } from "../client/remote-link.ts";
import { type OpenedCluster, openCluster } from "../process/open-cluster.ts";
import type { Logger } from "../runtime/ports.ts";
import { loggerOf } from "./library-logger.ts";
import { TIMEOUT_MS } from "./time-limit.ts";

/**
 * Connects to a gate with options of the right types.
 * @throws CallgateError as `connectCallgate`
 */
export async function composeConnected(options: ConnectOptions): Promise<Callgate> {
  const { timeoutMs = TIMEOUT_MS, onLost, token } = options;
  const config = checkedConfig(options);
  const secrets = secretsOf(options.secret);
  const logger = loggerOf(readEnv());
  const cluster = await opened(config, secrets, logger);
  const { log, codec } = cluster;
  const clock = systemClock;
  const link = linkToRemote({
    ...{ log, codec, clock, secrets, logger },
    close: () => cluster.close(),
    abandon: () => cluster.abandon(),
  });
  const telemetry = createTelemetry();
  return composeCallgate(link, new GateClient(link, { timeoutMs, onLost, token, telemetry }));
}

function checkedConfig({ kafka, registry }: ConnectOptions): Config {
  const result = configOf({ kafka, registry }, "the options of connectCallgate");
  if (result.ok) return result.config;
  const lines = result.problems.map(formatConfigProblem);
  throw new CallgateError("invalid_input", lines.join("\n"));
}

function secretsOf(secret: SecretOption | undefined): ReadonlyMap<string, Uint8Array> {
  if (secret === undefined) return new Map();
  const result = secretsFrom(secret);
  if (!result.ok) throw new CallgateError("secret_unreadable", result.problem.message);
  const all = [result.secret, ...result.earlier];
  return new Map(all.map(({ keyId, bytes }) => [keyId, bytes] as const));
}

async function opened(
  config: Config,
  secrets: ReadonlyMap<string, Uint8Array>,
  logger: Logger,
): Promise<OpenedCluster> {
  try {
    return await openCluster(config, secrets, logger);
  } catch (error) {
    throw asCallgateError(error);
  }
}
