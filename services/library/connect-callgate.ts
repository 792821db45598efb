import { formatConfigProblem } from "../adapters/config/config-problem.ts";
import type { Config } from "../adapters/config/config-schema.ts";
import { configOf } from "../adapters/config/load-config.ts";
import { readEnv } from "../adapters/config/read-env.ts";
import { secretsFrom } from "../adapters/config/secret-file.ts";
import { systemClock } from "../adapters/system/clock.ts";
import type { Callgate } from "../client/api/callgate.ts";
import { asCallgateError, CallgateError } from "../client/api/callgate-error.ts";
import type { ConnectOptions } from "../client/api/connect-types.ts";
import type { SecretOption } from "../client/api/gate-types.ts";
import { composeCallgate } from "../client/compose-callgate.ts";
import { GateClient } from "../client/gate-client.ts";
import { optionsProblem } from "../client/inputs/check-options.ts";
import { linkToRemote } from "../client/remote-link.ts";
import type { OpenedCluster } from "../process/open-cluster.ts";
import type { Logger } from "../runtime/ports.ts";
import { loggerOf } from "./library-logger.ts";

const TIMEOUT_MS = 30_000;

/**
 * Connects to a gate that runs elsewhere, through the topics that it reads and writes. Answers come
 * from its journal, so every answer is durable and visible to everybody.
 *
 * @throws CallgateError: `invalid_input` with every problem of the options; the cluster cannot be
 *   used.
 */
export async function connectCallgate(options: ConnectOptions): Promise<Callgate> {
  checkOptions(options);
  const { timeoutMs = TIMEOUT_MS, onLost, token, onDecision } = options;
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
  return composeCallgate(link, new GateClient(link, { timeoutMs, onLost, token }), onDecision);
}

const MEMBERS: Readonly<Record<keyof ConnectOptions, true>> = {
  kafka: true,
  registry: true,
  secret: true,
  token: true,
  onDecision: true,
  timeoutMs: true,
  onLost: true,
};

/** @throws CallgateError `invalid_input` for mistakes of an untyped program. */
function checkOptions(options: ConnectOptions): void {
  const problem = optionsProblem(options, Object.keys(MEMBERS));
  if (problem === undefined) return;
  throw new CallgateError("invalid_input", `the gate cannot be connected to: ${problem}`);
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
  // A program with an embedded gate needs none of the clients that this loads.
  const { openCluster } = await import("../process/open-cluster.ts");
  try {
    return await openCluster(config, secrets, logger);
  } catch (error) {
    throw asCallgateError(error);
  }
}
