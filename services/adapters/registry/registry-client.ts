/**
 * A client of the registry's HTTP API. It uses only the request layer of Confluent's client: that
 * client's class also compiles and encodes, which our codec does, and hides details that checks
 * need.
 */
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type * as RegistryApi from "@kafkajs/confluent-schema-registry/dist/api/index.js";
import { FatalError, RetryableError } from "../../runtime/errors.ts";
import { loadOptional } from "../system/optional-package.ts";
import { withTimeout } from "../system/with-timeout.ts";

/** PEM texts, not paths. */
export type RegistryTls = {
  /** Certificates to trust instead of the system's. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly passphrase?: string;
};

export type RegistryOptions = {
  /** Base address of the API, `http` or `https`; `credentials` override those in it. */
  readonly url: string;
  readonly credentials?: { readonly username: string; readonly password: string };
  readonly tls?: RegistryTls;
  readonly clientId: string;
  /** Longest wait for one answer. */
  readonly timeoutMs: number;
};

/** A registered version of a subject. */
export type RegisteredVersion = {
  readonly id: number;
  readonly version: number;
  /** The schema's text. */
  readonly schema: string;
};

export type RegisteredSchema = { readonly schema: string; readonly schemaType?: string };

/** `reason`: the registry's messages; empty where it gives none. */
export type Compatibility = { readonly compatible: boolean; readonly reason: string };

/** Calls are not retried. @throws RetryableError `schema_unavailable`, with the HTTP status. */
export interface RegistryClient {
  /** Resolves where the address is a registry that answers. */
  reach(): Promise<void>;
  /** Null where the registry has no such schema. */
  schemaOf(id: number): Promise<RegisteredSchema | null>;
  /** The id of this very schema under the subject, or null. */
  idOf(subject: string, schema: string): Promise<number | null>;
  latest(subject: string): Promise<RegisteredVersion | null>;
  version(subject: string, version: number): Promise<RegisteredVersion | null>;
  /** The subject's compatibility level, or else the registry's; null where neither is set. */
  level(subject: string): Promise<string | null>;
  setLevel(subject: string, level: string): Promise<void>;
  /** Whether the registry would accept the schema as the next version. */
  compatible(subject: string, schema: string): Promise<Compatibility>;
  /** Returns the id, or why the registry refused the schema. */
  register(subject: string, schema: string): Promise<{ readonly id: number } | Refusal>;
  close(): void;
}

export type Refusal = { readonly refused: string };

type Answer = { data(): unknown };
type Call = (parameters: Readonly<Record<string, unknown>>) => Promise<Answer>;
type Api = {
  readonly Schema: { readonly find: Call };
  readonly Subject: {
    readonly [name in
      | "all"
      | "latestVersion"
      | "version"
      | "registered"
      | "config"
      | "updateConfig"
      | "register"
      | "compatible"]: Call;
  };
};

type CreateApi = (typeof RegistryApi)["default"]["default"];

const CLIENT_PACKAGE = "@kafkajs/confluent-schema-registry/dist/api/index.js";

/** @throws FatalError where the client's package, an optional one, is not installed. */
function loadApi(): CreateApi {
  const client = loadOptional<{ readonly default: CreateApi }>(CLIENT_PACKAGE);
  if (!client.ok) {
    throw new FatalError("registry_refused", `no registry can be asked: ${client.problem}`);
  }
  return client.loaded.default;
}

const MISSING_STATUS = 404;
const REFUSED_STATUSES = [409, 422];

export function createRegistryClient(options: RegistryOptions): RegistryClient {
  const { url, credentials } = splitCredentials(options);
  const agent = createAgent(url, options.tls);
  const { Schema, Subject } = loadApi()({
    host: url,
    clientId: options.clientId,
    agent,
    // The callers decide when to retry.
    retry: { retries: 0 },
    ...(credentials === undefined ? {} : { auth: credentials }),
  }) as unknown as Api;
  const ask = async (
    call: Call,
    parameters: Readonly<Record<string, unknown>>,
  ): Promise<unknown> => {
    // The client's own time-out does not cover an answer that breaks off in the middle.
    const answer = call({ ...parameters, timeout: options.timeoutMs });
    return (await withTimeout(answer, options.timeoutMs)).data();
  };
  const get = (call: Call, parameters: Readonly<Record<string, unknown>>): Promise<unknown> =>
    ask(call, parameters).catch(orNull([MISSING_STATUS], url));
  return {
    reach: async () => {
      await ask(Subject.all, {}).catch(rethrow(url));
    },
    schemaOf: async (id) => (await get(Schema.find, { id })) as RegisteredSchema | null,
    idOf: async (subject, schema) => {
      const registered = await get(Subject.registered, { subject, body: { schema } });
      return registered === null ? null : idIn(registered, url);
    },
    latest: async (subject) =>
      (await get(Subject.latestVersion, { subject })) as RegisteredVersion | null,
    version: async (subject, version) =>
      (await get(Subject.version, { subject, version })) as RegisteredVersion | null,
    level: async (subject) =>
      levelIn(await get(Subject.config, { subject })) ??
      levelIn(await get(Subject.config, { subject, defaultToGlobal: true })),
    setLevel: async (subject, level) => {
      const body = { compatibility: level };
      await ask(Subject.updateConfig, { subject, body }).catch(rethrow(url));
    },
    compatible: async (subject, schema) => {
      const parameters = { subject, version: "latest", verbose: true, body: { schema } };
      return compatibilityIn(await ask(Subject.compatible, parameters).catch(rethrow(url)));
    },
    register: async (subject, schema) => {
      try {
        return { id: idIn(await ask(Subject.register, { subject, body: { schema } }), url) };
      } catch (error) {
        if (REFUSED_STATUSES.includes(statusOf(error))) return { refused: textOf(error) };
        throw unavailable(error, url);
      }
    },
    close: () => agent.destroy(),
  };
}

function splitCredentials(options: RegistryOptions): {
  readonly url: string;
  readonly credentials: RegistryOptions["credentials"];
} {
  const url = new URL(options.url);
  const inUrl =
    url.username === ""
      ? undefined
      : {
          username: decodeURIComponent(url.username),
          password: decodeURIComponent(url.password),
        };
  url.username = "";
  url.password = "";
  return { url: url.href.replace(/\/+$/, ""), credentials: options.credentials ?? inUrl };
}

function createAgent(url: string, tls: RegistryTls = {}): HttpAgent {
  const agentOptions = { keepAlive: true, maxSockets: 4 };
  return url.startsWith("https:")
    ? new HttpsAgent({ ...agentOptions, ...tls })
    : new HttpAgent(agentOptions);
}

function orNull(statuses: readonly number[], url: string) {
  return (error: unknown): null => {
    if (statuses.includes(statusOf(error))) return null;
    throw unavailable(error, url);
  };
}

function rethrow(url: string) {
  return (error: unknown): never => {
    throw unavailable(error, url);
  };
}

function statusOf(error: unknown): number {
  const status = (error as { readonly status?: unknown } | null)?.status;
  return typeof status === "number" ? status : 0;
}

/**
 * The registry's message, without the client's prefix: its name, and a status that the server may
 * not have sent.
 */
function textOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const said = text.replace(/^.*? - (Error, status \d+: )?/, "");
  // Another server answered with an `error` that is not text.
  return said === String({}) ? "it does not answer as a schema registry does" : said;
}

const NOBODY_THERE = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH/;

/**
 * The address in the message has no credentials. The error has no cause, since that contains the
 * headers of the request.
 */
function unavailable(error: unknown, url: string): RetryableError {
  const status = statusOf(error);
  const text = textOf(error);
  const hint = NOBODY_THERE.test(text) ? "; is the registry running there? see `registry.url`" : "";
  return new RetryableError(
    "schema_unavailable",
    `the schema registry at ${url} failed: ${text}${hint}`,
    { context: { status } },
  );
}

function idIn(data: unknown, url: string): number {
  const id = (data as { readonly id?: unknown } | null)?.id;
  if (typeof id === "number") return id;
  throw unavailable(new Error("the answer has no schema id"), url);
}

function levelIn(data: unknown): string | null {
  const said = data as {
    readonly compatibilityLevel?: unknown;
    readonly compatibility?: unknown;
  } | null;
  const level = said?.compatibilityLevel ?? said?.compatibility;
  return typeof level === "string" ? level.toUpperCase() : null;
}

function compatibilityIn(data: unknown): Compatibility {
  const said = data as {
    readonly is_compatible?: unknown;
    readonly messages?: unknown;
    readonly reason?: unknown;
  } | null;
  const messages = Array.isArray(said?.messages) ? said.messages.map(String) : [];
  if (typeof said?.reason === "string") messages.push(said.reason);
  return { compatible: said?.is_compatible === true, reason: messages.join("; ") };
}
