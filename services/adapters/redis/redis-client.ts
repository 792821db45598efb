import { Cluster, Redis } from "ioredis";
import { RetryableError } from "../../runtime/errors.ts";
import type { Logger } from "../../runtime/ports.ts";
import { withTimeout } from "../system/with-timeout.ts";

/** PEM texts, not paths. */
export type RedisTls = {
  /** Certificates to trust instead of the system's. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly passphrase?: string;
  readonly servername?: string;
};

/** Addresses are `host:port`. */
export type RedisServer =
  | { readonly type: "single"; readonly url: string }
  | {
      readonly type: "sentinel";
      readonly sentinels: readonly string[];
      /** The master's name at the Sentinels. */
      readonly name: string;
      readonly sentinelUsername?: string;
      readonly sentinelPassword?: string;
    }
  | { readonly type: "cluster"; readonly nodes: readonly string[] };

export type RedisOptions = {
  readonly server: RedisServer;
  /** Credentials of the server or the nodes; where absent, those in `url` apply. */
  readonly username?: string;
  readonly password?: string;
  /**
   * Enables TLS, also to Sentinels and nodes. Not needed for `rediss://` with trusted
   * certificates.
   */
  readonly tls?: RedisTls;
  readonly clientName: string;
  /** Longest wait for one answer. */
  readonly commandTimeoutMs: number;
  readonly connectTimeoutMs: number;
};

const PORT = 6379;
const RECONNECT_MS_STEP = 100;
const RECONNECT_MS_MAX = 2_000;
const REDIRECTIONS_MAX = 5;
/** Messages of a command that got no answer, ioredis' and ours. */
const STUCK = /^(Command timed out|no answer within)/;

/**
 * A connection to Redis, or one to each node. A command that cannot be sent fails at once: nothing
 * is queued while the server is away, and nothing is sent twice.
 */
export class RedisClient {
  readonly #client: Redis | Cluster;
  readonly #logger: Logger;
  readonly #options: RedisOptions;
  /** Why no connection is available; null: it is, or the first attempt is still running. */
  #problem: string | null = null;
  #isClosed = false;
  /** Callers that wait for the result of the first attempt to connect. */
  #waiting: ((error: Error | null) => void)[] = [];

  constructor(options: RedisOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
    this.#client = createClient(options);
    this.#client.on("ready", () => this.#updateProblem(null));
    this.#client.on("error", (error: Error) => {
      this.#updateProblem(error);
      // After a failed SELECT ioredis would go on in database 0, which may belong to another
      // program.
      if (isSelectError(error)) this.#client.disconnect(true);
    });
    this.#client.on("close", () => this.#updateProblem(new Error("the connection was closed")));
    this.#client.on("end", () => this.#connectLater());
  }

  /**
   * Runs a command. The first attempt to connect is awaited; once the server is known to be away,
   * the command fails at once.
   * @throws RetryableError `checkpoint_unavailable`
   */
  async ask<T>(ask: (client: Redis | Cluster) => Promise<T>): Promise<T> {
    const { server, commandTimeoutMs, connectTimeoutMs } = this.#options;
    try {
      if (this.#client.status !== "ready") await withTimeout(this.#ready(), connectTimeoutMs);
      return await withTimeout(ask(this.#client), commandTimeoutMs);
    } catch (error) {
      // Behind Sentinels, a master that hangs has probably been replaced, so a new one is
      // looked up.
      const isStuck = error instanceof Error && STUCK.test(error.message);
      if (isStuck && server.type === "sentinel") this.#client.disconnect(true);
      throw new RetryableError(
        "checkpoint_unavailable",
        `Redis (${addressOf(server)}) failed: ${describeError(error)}`,
      );
    }
  }

  /** ioredis stops reconnecting where a Sentinel's answer comes during a failover. */
  #connectLater(): void {
    setTimeout(() => {
      if (!this.#isClosed && this.#client.status === "end")
        this.#client.connect().catch(() => undefined);
    }, RECONNECT_MS_MAX).unref();
  }

  close(): void {
    this.#isClosed = true;
    this.#client.removeAllListeners();
    this.#client.on("error", () => undefined);
    this.#client.disconnect();
  }

  #ready(): Promise<void> {
    if (this.#problem !== null) {
      return Promise.reject(new Error(`there is no connection: ${this.#problem}`));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push((error) => (error === null ? resolve() : reject(error)));
    });
  }

  /** Logs once that the server is away, and once that it is back. */
  #updateProblem(error: Error | null): void {
    for (const wake of this.#waiting.splice(0)) wake(error);
    const before = this.#problem;
    this.#problem = error === null ? null : (before ?? textOf(error));
    const server = addressOf(this.#options.server);
    if (error === null && before !== null) this.#logger.info("Redis answers again", { server });
    if (error !== null && before === null) {
      this.#logger.warn("Redis is not reachable; decisions go on without checkpoints", {
        server,
        problem: textOf(error),
      });
    }
  }
}

function isSelectError(error: Error): boolean {
  const command: unknown = Reflect.get(error, "command");
  return (
    typeof command === "object" && command !== null && Reflect.get(command, "name") === "select"
  );
}

function createClient(options: RedisOptions): Redis | Cluster {
  const { server, connectTimeoutMs, tls } = options;
  const common = commonOptions(options);
  if (server.type === "cluster") {
    return new Cluster(server.nodes.map(hostAndPort), {
      enableOfflineQueue: false,
      clusterRetryStrategy: retryStrategy,
      maxRedirections: REDIRECTIONS_MAX,
      slotsRefreshTimeout: connectTimeoutMs,
      redisOptions: common,
    });
  }
  const alone = {
    ...common,
    enableOfflineQueue: false,
    retryStrategy,
    // After a failover the old master may still answer, as a replica.
    reconnectOnError: (error: Error) => error.message.startsWith("READONLY"),
  };
  if (server.type === "single") return new Redis(server.url, alone);
  const { sentinelUsername, sentinelPassword } = server;
  return new Redis({
    ...alone,
    sentinels: server.sentinels.map(hostAndPort),
    name: server.name,
    sentinelRetryStrategy: retryStrategy,
    ...(sentinelUsername === undefined ? {} : { sentinelUsername }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...(tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: tls }),
  });
}

function commonOptions(options: RedisOptions) {
  const { username, password, tls } = options;
  return {
    protocol: 2,
    connectionName: options.clientName,
    connectTimeout: options.connectTimeoutMs,
    commandTimeout: options.commandTimeoutMs,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls === undefined ? {} : { tls }),
  } as const;
}

function retryStrategy(times: number): number {
  return Math.min(times * RECONNECT_MS_STEP, RECONNECT_MS_MAX);
}

function hostAndPort(address: string): { readonly host: string; readonly port: number } {
  const at = address.lastIndexOf(":");
  const host = (at < 0 ? address : address.slice(0, at)).replace(/^\[(.*)\]$/, "$1");
  return { host, port: at < 0 ? PORT : Number(address.slice(at + 1)) };
}

/** The server's address for messages, without credentials. */
function addressOf(server: RedisServer): string {
  switch (server.type) {
    case "single":
      return URL.canParse(server.url) ? new URL(server.url).host : "its URL cannot be read";
    case "sentinel":
      return `${server.name} by ${server.sentinels.join(",")}`;
    case "cluster":
      return server.nodes.join(",");
  }
}

/** The message alone: errors of ioredis carry the command with its arguments. */
function textOf(error: unknown): string {
  return error instanceof Error && error.message !== "" ? error.message : "no reason was given";
}

const NOBODY_THERE = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH/;
const NOT_LET_IN = /NOAUTH|WRONGPASS|NOPERM/;

const NO_DATABASE = /DB index is out of range|invalid DB index/;

function describeError(error: unknown): string {
  const text = textOf(error);
  if (NO_DATABASE.test(text))
    return `${text}; the server has no such database, see the number in \`redis.url\``;
  if (NOBODY_THERE.test(text)) return `${text}; is Redis running there? see \`redis\``;
  if (NOT_LET_IN.test(text)) return `${text}; see \`redis.username\` and \`redis.password\``;
  return text;
}
