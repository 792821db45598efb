/** `callgate serve`: the gate over HTTP. */
import { join } from "node:path";
import type { Config } from "../adapters/config/config-schema.ts";
import { createJsonLogger } from "../adapters/log/json-logger.ts";
import { createProcessMetrics } from "../adapters/metrics/process-metrics.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { AccessTokens } from "../adapters/tokens/access-tokens.ts";
import { makeFirstToken } from "../adapters/tokens/first-token.ts";
import type { IssuerSettings, IssuerTokens } from "../adapters/tokens/issuer-tokens.ts";
import type { Notifier } from "../notify/notifier.ts";
import {
  EXIT_ENVIRONMENT,
  EXIT_OK,
  type ExitCode,
  environmentError,
  usageError,
} from "../process/exit-error.ts";
import { NO_BROKERS, namesBrokers, openConfig } from "../process/open-config.ts";
import { aborted } from "../process/run-process.ts";
import { onStop } from "../process/stop-signals.ts";
import { onStrayError } from "../process/stray-errors.ts";
import { fileError } from "../process/text-files.ts";
import type { Logger } from "../runtime/ports.ts";
import type { AuthenticatorParts } from "./access/authenticate.ts";
import { RateLimit } from "./access/rate-limit.ts";
import {
  type HttpServer,
  isLoopback,
  type ListenAddress,
  listen,
  ownHosts,
} from "./http/listen.ts";
import { type GateSource, openServedGate } from "./open-served-gate.ts";
import { createServeApp } from "./serve-app.ts";
import { startWebhooks } from "./start-webhooks.ts";

export type ServeOptions = {
  readonly policy: readonly string[];
  /** Undefined: as the configuration says, or `.callgate`. */
  readonly dataDir: string | undefined;
  readonly config: string | undefined;
  /** `host:port` */
  readonly listen: string;
};

type Output = { write(text: string): Promise<void> };
export type ServeOutput = { readonly out: Output; readonly err: Output };

const DATA_DIR = ".callgate";
/** Directory of the access tokens, in the data directory or in `serve.directory`. */
export const TOKENS_DIRECTORY = "tokens";

/** @throws ExitError where the server cannot start because of its options, address or gate. */
export async function runServe(
  options: ServeOptions,
  { out, err }: ServeOutput,
): Promise<ExitCode> {
  const address = parseAddress(options.listen);
  const config = openConfig(options.config, [], NO_BROKERS);
  const source = sourceOf(options, config);
  const directory = source.kind === "embedded" ? source.dataDir : config.serve.directory;
  const sink = { write: (line: string) => void err.write(line).catch(() => undefined) };
  const logger = createJsonLogger(sink, config.log.level, { service: "serve", pid: process.pid });
  const metrics = createProcessMetrics("serve");
  const stop = onStop();
  const failures: unknown[] = [];
  const fail = (error: unknown): void => {
    failures.push(error);
    logger.error("the server cannot go on", { message: String(error) });
    stop.now();
  };
  const endStray = onStrayError(fail);
  const served = await openServedGate(source, { logger, metrics, onLost: fail });
  let server: HttpServer | undefined;
  let webhooks: Notifier | null = null;
  try {
    webhooks = await startWebhooks(served, source, config, { metrics, fail });
    const tokens = join(directory, TOKENS_DIRECTORY);
    const firstToken = firstTokenFile(directory, tokens);
    const access = await accessOf(address, config, new AccessTokens(tokens));
    const app = createServeApp({
      ...{ served, access, metrics, ending: stop.signal },
      publicUrl: config.serve.publicUrl ?? null,
      rateLimit: new RateLimit(config.serve.requestsPerSecond, systemClock),
      corsOrigins: config.serve.corsOrigins,
    });
    server = await openServer(app, address);
    await out.write(startMessage(server, source, firstToken, access.isOpen));
    await aborted(stop.signal);
    return failures.length === 0 ? EXIT_OK : EXIT_ENVIRONMENT;
  } finally {
    await end(server, config.shutdownMs, logger);
    await webhooks?.close();
    await served.gate.close({ timeoutMs: config.shutdownMs });
    stop.end();
    endStray();
  }
}

/** A gate on Kafka where brokers are configured and no data directory was named. */
function sourceOf({ policy, dataDir }: ServeOptions, config: Config): GateSource {
  if (namesBrokers(config) && dataDir === undefined) {
    if (policy.length === 0) return { kind: "kafka", config };
    throw usageError(
      "--policy: the gate on Kafka has the policy of its own configuration; leave --policy out, or name a data directory with --data-dir",
    );
  }
  const files = policy.length > 0 ? policy : config.policy.files;
  const { memoryBytes } = config.state;
  const { limits } = config;
  if (files.length > 0) {
    const dir = dataDir ?? DATA_DIR;
    return { kind: "embedded", policy: files, dataDir: dir, memoryBytes, limits };
  }
  throw usageError(
    "name a policy with --policy, or brokers of a gate on Kafka with --config; `callgate policy import` makes a policy from tool definitions",
  );
}

function parseAddress(text: string): ListenAddress {
  const [, host = "", port = ""] = /^(\[[0-9a-fA-F:]+\]|[^:[\]]+):(\d{1,5})$/.exec(text) ?? [];
  const portMax = 65_535;
  if (host !== "" && Number(port) <= portMax) {
    return { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
  }
  throw usageError(`--listen ${text}: write host and port, as 127.0.0.1:8181`);
}

async function accessOf(
  { host }: ListenAddress,
  { serve }: Config,
  tokens: AccessTokens,
): Promise<AuthenticatorParts> {
  return {
    ...{ tokens, clock: systemClock },
    issuer: serve.jwt === undefined ? null : await openIssuer(serve.jwt),
    isOpen: isLoopback(host) && !serve.requireToken,
    isOwnHost: ownHosts(serve.hosts),
  };
}

async function openIssuer(settings: IssuerSettings): Promise<IssuerTokens> {
  const { IssuerTokens } = await import("../adapters/tokens/issuer-tokens.ts");
  return new IssuerTokens(settings);
}

function firstTokenFile(directory: string, tokens: string): string | null {
  try {
    return makeFirstToken(directory, tokens, systemClock.nowMs());
  } catch (error) {
    throw fileError("write", directory, error);
  }
}

async function openServer(
  app: ReturnType<typeof createServeApp>,
  address: ListenAddress,
): Promise<HttpServer> {
  try {
    return await listen(app, address);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const { host, port } = address;
    throw environmentError(
      `cannot listen on ${host}:${port}: ${why}; choose another with --listen`,
      error,
    );
  }
}

function startMessage(
  { url }: HttpServer,
  source: GateSource,
  firstToken: string | null,
  isOpen: boolean,
): string {
  const where =
    source.kind === "embedded" ? `deciding in ${source.dataDir}` : "asking the gate on Kafka";
  const open = isOpen
    ? "without a token, programs on this machine may propose, report and read"
    : "every request needs a token";
  const admin =
    firstToken === null
      ? "`callgate token create` makes tokens"
      : `the administrator's token is in ${firstToken}`;
  return `callgate: serving ${url}, ${where}\ncallgate: ${open}; ${admin}\n`;
}

/** Answers what is in flight, within the shutdown time. */
async function end(
  server: HttpServer | undefined,
  shutdownMs: number,
  logger: Logger,
): Promise<void> {
  if (server === undefined || (await server.close(shutdownMs))) return;
  logger.warn("connections were closed before their requests were answered", {
    withinMs: shutdownMs,
  });
}
