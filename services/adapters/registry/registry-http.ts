/** One exchange of JSON with the HTTP API of a registry. */
import { type Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { text } from "node:stream/consumers";
import { withTimeout } from "../system/with-timeout.ts";

const MEDIA_TYPE = "application/vnd.schemaregistry.v1+json";

export type RegistryServer = {
  /** Base address of the API, without credentials and without a slash at its end. */
  readonly url: string;
  readonly agent: HttpAgent;
  readonly credentials: { readonly username: string; readonly password: string } | undefined;
  readonly clientId: string;
  /** Longest wait for one answer, its body included. */
  readonly timeoutMs: number;
};

export type RegistryRequest = {
  readonly method: "GET" | "POST" | "PUT";
  /** Below the base address, encoded. */
  readonly path: string;
  readonly body?: object;
};

/** The registry answered with another status than success. The message is the registry's. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Sends the request once. @returns the data of the answer.
 * @throws StatusError; Error where no complete answer arrives in time, or one without JSON.
 */
export async function exchange(server: RegistryServer, request: RegistryRequest): Promise<unknown> {
  const stop = new AbortController();
  try {
    return await withTimeout(readAnswer(server, request, stop.signal), server.timeoutMs);
  } catch (error) {
    stop.abort();
    throw error;
  }
}

async function readAnswer(
  server: RegistryServer,
  request: RegistryRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const answer = await send(server, request, signal);
  const data = parse(await text(answer));
  const status = answer.statusCode ?? 0;
  if (status < 200 || status > 299) throw new StatusError(status, messageIn(data, status));
  if (data === undefined) throw new Error(NO_REGISTRY);
  return data;
}

function send(
  { url, agent, credentials, clientId }: RegistryServer,
  { method, path, body }: RegistryRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const content = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const headers = {
    accept: `${MEDIA_TYPE}, application/json`,
    "user-agent": `callgate (${clientId})`,
    ...(content === undefined
      ? {}
      : { "content-type": MEDIA_TYPE, "content-length": content.length }),
  };
  const auth =
    credentials === undefined ? {} : { auth: `${credentials.username}:${credentials.password}` };
  const request = url.startsWith("https:") ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    request(`${url}${path}`, { method, agent, headers, signal, ...auth }, resolve)
      .once("error", reject)
      .end(content);
  });
}

const NO_REGISTRY = "it does not answer as a schema registry does";

/** Undefined where the text is no JSON; an empty answer is null. */
function parse(body: string): unknown {
  if (body === "") return null;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

function messageIn(data: unknown, status: number): string {
  const message = (data as { readonly message?: unknown } | null | undefined)?.message;
  return typeof message === "string" && message !== ""
    ? message
    : `${NO_REGISTRY}: it sent status ${status}`;
}
