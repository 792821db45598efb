/**
 * A client of the registry's HTTP API. Confluent's client is not used: it also compiles and encodes,
 * which our codec does, hides details that checks need, and installs 12 MB.
 */
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { RetryableError } from "../../runtime/errors.ts";
import { exchange, type RegistryRequest, StatusError } from "./registry-http.ts";

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

const MISSING_STATUS = 404;
const REFUSED_STATUSES = [409, 422];

export function createRegistryClient(options: RegistryOptions): RegistryClient {
  const { url, credentials } = splitCredentials(options);
  const { clientId, timeoutMs } = options;
  const agent = createAgent(url, options.tls);
  const server = { url, agent, credentials, clientId, timeoutMs };
  const ask = (request: RegistryRequest): Promise<unknown> => exchange(server, request);
  const get = (path: string): Promise<unknown> => ask({ method: "GET", path });
  const post = (path: string, body: object): Promise<unknown> =>
    ask({ method: "POST", path, body });
  const missing = orNull([MISSING_STATUS], url);
  const versionOf = async (subject: string, version: number | "latest") =>
    (await get(`${pathOf(subject)}/versions/${version}`).catch(
      missing,
    )) as RegisteredVersion | null;
  return {
    reach: async () => {
      await get("/subjects").catch(rethrow(url));
    },
    schemaOf: async (id) =>
      (await get(`/schemas/ids/${id}`).catch(missing)) as RegisteredSchema | null,
    idOf: async (subject, schema) => {
      const registered = await post(pathOf(subject), { schema }).catch(missing);
      return registered === null ? null : idIn(registered, url);
    },
    latest: (subject) => versionOf(subject, "latest"),
    version: versionOf,
    level: async (subject) =>
      levelIn(await get(levelPath(subject)).catch(missing)) ??
      levelIn(await get(`${levelPath(subject)}?defaultToGlobal=true`).catch(missing)),
    setLevel: async (subject, level) => {
      const body = { compatibility: level };
      await ask({ method: "PUT", path: levelPath(subject), body }).catch(rethrow(url));
    },
    compatible: async (subject, schema) => {
      const path = `/compatibility${pathOf(subject)}/versions/latest?verbose=true`;
      return compatibilityIn(await post(path, { schema }).catch(rethrow(url)));
    },
    register: async (subject, schema) => {
      try {
        return { id: idIn(await post(`${pathOf(subject)}/versions`, { schema }), url) };
      } catch (error) {
        if (REFUSED_STATUSES.includes(statusOf(error))) return { refused: textOf(error) };
        throw unavailable(error, url);
      }
    },
    close: () => agent.destroy(),
  };
}

function pathOf(subject: string): string {
  return `/subjects/${encodeURIComponent(subject)}`;
}

function levelPath(subject: string): string {
  return `/config/${encodeURIComponent(subject)}`;
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
  return error instanceof StatusError ? error.status : 0;
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A name with several addresses gives an error without a message of its own.
  return error.message === "" ? String(Reflect.get(error, "code")) : error.message;
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
