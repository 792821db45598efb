/**
 * Sends one webhook: resolves the name of its target once, connects only to addresses that were
 * checked, follows no redirect, reads no more of the answer than it must.
 */
import type { LookupAddress } from "node:dns";
import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { type Resolve, resolveTarget, systemResolve } from "./check-address.ts";

/** More of an answer is not read. */
const ANSWER_BYTES_MAX = 64 * 1024;
const OK_MIN = 200;
const OK_MAX = 299;
const MS_PER_SECOND = 1_000;

export type WebhookRequest = {
  readonly url: string;
  readonly allowPrivate: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Longest time from the beginning to the end of the answer. */
  readonly timeoutMs: number;
  /** Ends the request. */
  readonly signal: AbortSignal;
};

export type WebhookOutcome =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** One sentence without the address, which may be secret. */
      readonly problem: string;
      /** Null: no answer came. */
      readonly status: number | null;
      /** How long the receiver asks to wait; null: it does not say. */
      readonly retryAfterMs: number | null;
    };

/** Never rejects. @param resolve stands in for DNS. */
export async function sendWebhook(
  webhook: WebhookRequest,
  resolve: Resolve = systemResolve,
): Promise<WebhookOutcome> {
  const { signal, timeoutMs } = webhook;
  const end = new AbortController();
  // `AbortSignal.any` would hold on to each request for as long as the signal of them all lives.
  const abort = (): void => end.abort();
  const timeout = setTimeout(abort, timeoutMs);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  try {
    return outcomeOf(await post(webhook, end.signal, resolve));
  } catch (error) {
    const isLate = end.signal.aborted && !signal.aborted;
    const problem = isLate ? `no answer within ${timeoutMs} ms` : messageOf(error);
    return { ok: false, problem, status: null, retryAfterMs: null };
  } finally {
    clearTimeout(timeout);
    signal.removeEventListener("abort", abort);
  }
}

async function post(
  { url, allowPrivate, headers, body }: WebhookRequest,
  signal: AbortSignal,
  resolve: Resolve,
): Promise<Pick<IncomingMessage, "statusCode" | "headers">> {
  const { hostname, protocol } = new URL(url);
  const isPlain = protocol === "http:";
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const choices = { allowPrivate, isLoopbackOnly: isPlain };
  const addresses = await unlessAborted(resolveTarget(host, choices, resolve), signal);
  return await new Promise((answered, failed) => {
    const options = {
      method: "POST",
      headers: { ...headers, "content-length": String(Buffer.byteLength(body)) },
      // A connection that is used again was made to an address that DNS may have withdrawn since.
      agent: false as const,
      lookup: lookupIn(addresses),
      signal,
    };
    const request = isPlain ? requestHttp(url, options) : requestHttps(url, options);
    let answer: IncomingMessage | undefined;
    // Once its status is there, an answer counts, however it ends.
    request.on("error", (error) => (answer === undefined ? failed(error) : answered(answer)));
    request.on("response", (response) => {
      answer = response;
      response.on("close", () => answered(response));
      discard(response, request);
    });
    request.end(body);
  });
}

/** Answers Node's question for the addresses of a name with those that were checked. */
function lookupIn(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, options, callback) => {
    if (options.all === true) return callback(null, [...addresses]);
    const [first = { address: "", family: 0 }] = addresses;
    callback(null, first.address, first.family);
  };
}

/** Lets the receiver finish its answer, as long as it is short. */
function discard(response: IncomingMessage, request: ClientRequest): void {
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) request.destroy();
  });
  response.on("error", () => undefined);
}

function outcomeOf({
  statusCode = 0,
  headers,
}: Pick<IncomingMessage, "statusCode" | "headers">): WebhookOutcome {
  if (statusCode >= OK_MIN && statusCode <= OK_MAX) return { ok: true };
  const isRedirect = statusCode >= 300 && statusCode < 400;
  const note = isRedirect ? ": redirects are not followed, set the address itself" : "";
  const problem = `the receiver answered ${statusCode}${note}`;
  return { ok: false, problem, status: statusCode, retryAfterMs: retryAfterOf(headers) };
}

function retryAfterOf({ "retry-after": value = "" }: IncomingMessage["headers"]): number | null {
  return /^\d{1,6}$/.test(value) ? Number(value) * MS_PER_SECOND : null;
}

/** DNS cannot be interrupted; its late answer is ignored. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new Error("the request was ended"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  work.catch(() => undefined);
  aborted.catch(() => undefined);
  return await Promise.race([work, aborted]);
}

/** Of several addresses that cannot be reached, Node reports an error without a message. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.map(messageOf).join(", ");
  }
  return error instanceof Error ? error.message : String(error);
}
