import { findOverride } from "./find-override.ts";
import { readUrl } from "./read-url.ts";

export interface RequestParts {
  readonly method: string;
  /** With or without scheme and host; null where the tool has none. */
  readonly url: string | null;
  /** In the form that the call has: an object, a list, a text. */
  readonly headers: unknown;
  readonly body: unknown;
  /** All other arguments of the call, which are searched for overrides of the method. */
  readonly rest: unknown;
}

export type RequestReading =
  | {
      readonly kind: "request";
      readonly does: "read" | "write";
      /** Upper case. */
      readonly method: string;
      /** Lower case, with a port other than the scheme's own; "" where the URL has none. */
      readonly host: string;
      /** Decoded, without `.`, `..`, empty segments, query and fragment: `/a/b`. */
      readonly path: string;
    }
  | { readonly kind: "unclear"; readonly reason: string };

/** Methods that change nothing by RFC 9110, section 9.2.1; `TRACE` is left out. */
const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Reads an HTTP request. Never throws; time is linear in its parts. A possible override of the
 * method makes it unclear.
 */
export function readRequest({ method, url, headers, body, rest }: RequestParts): RequestReading {
  if (!/^[A-Za-z]+$/.test(method)) return unclear(`${quote(method)} is no HTTP method`);
  const address = url === null ? { host: "", path: "/", query: "" } : readUrl(url);
  if (typeof address === "string") return unclear(address);
  const override = findOverride({ query: address.query, headers, body, rest });
  if (override !== null) return unclear(`${quote(override)} may override the method`);
  const upper = method.toUpperCase();
  const does = SAFE.has(upper) && isEmpty(body) ? "read" : "write";
  return { kind: "request", does, method: upper, host: address.host, path: address.path };
}

function unclear(reason: string): RequestReading {
  return { kind: "unclear", reason };
}

const QUOTE_LENGTH = 40;

function quote(text: string): string {
  return JSON.stringify(text.slice(0, QUOTE_LENGTH));
}

function isEmpty(body: unknown): boolean {
  if (body === undefined || body === null || body === "") return true;
  return typeof body === "object" && Object.keys(body).length === 0;
}

const URL_NAMES = /^(?:url|uri|endpoint|href|link|path)$/i;
const HEADER_NAMES = /^(?:http_?)?headers?$/i;
const BODY_NAMES = /^(?:request_?)?(?:body|data|json|form|form_?data|payload|content|files?)$/i;

/**
 * Sorts the arguments of a call by their names.
 * @param argument the argument that holds the method.
 * @returns `url` is null where no argument has the name of an address; several bodies become one
 * object.
 */
export function requestParts(
  args: Readonly<Record<string, unknown>>,
  argument: string,
): RequestParts {
  const others = Object.entries(args).filter(([name]) => name !== argument);
  const address = others.find(([name, value]) => URL_NAMES.test(name) && typeof value === "string");
  const pick = (names: RegExp) =>
    others.filter(([name, value]) => names.test(name) && !isEmpty(value));
  const rest = others.filter(
    (entry) => entry !== address && !HEADER_NAMES.test(entry[0]) && !BODY_NAMES.test(entry[0]),
  );
  const bodies = pick(BODY_NAMES);
  return {
    method: typeof args[argument] === "string" ? args[argument] : "",
    url: address === undefined ? null : String(address[1]),
    headers: pick(HEADER_NAMES).map(([, value]) => value),
    body: bodies.length === 0 ? null : bodies.map(([, value]) => value),
    rest: Object.fromEntries(rest),
  };
}
