import { decodeFully } from "./decode.ts";

export interface Address {
  /** Lower case, with a port other than the scheme's own; "" where the URL has none. */
  readonly host: string;
  /** Decoded, without `.`, `..`, empty segments, query and fragment: `/a/b`. */
  readonly path: string;
  /** As written. */
  readonly query: string;
}

const PARTS = /^(?:(https?):)?(?:\/\/([^/?#]+))?((?:\/(?!\/)[^?#]*)?)(?:\?([^#]*))?(?:#.*)?$/i;
const HOST = /^(\[[\da-f:.]+\]|[a-z\d._-]+?)\.?(?::(\d*))?$/i;
const NUMBER = /(?:^|\.)(?:\d+|0x[\da-f]*)$/i;
const IPV4 = /^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/;
const PORTS: ReadonlyMap<string, string> = new Map([
  ["http", "80"],
  ["https", "443"],
]);

/**
 * Reads an address that every client reads in the same way; a string is the reason why there is
 * none.
 */
export function readUrl(url: string): Address | string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: clients drop or keep control characters.
  if (/[\s\\\x00-\x1f\x7f]/.test(url))
    return "the URL holds a blank, a backslash or a control character";
  const [, scheme, authority, rawPath = "", query = ""] = PARTS.exec(url) ?? [];
  if (rawPath === "" && authority === undefined && !/^[?#]/.test(url))
    return "the URL begins neither with http:// or https:// nor with one slash";
  if (scheme !== undefined && authority === undefined) return "the URL has no host";
  const host = authority === undefined ? "" : readHost(authority, scheme?.toLowerCase() ?? "");
  if (host === null) return "the URL has credentials, or a host that clients read differently";
  const path = decodeFully(rawPath);
  if (/[;\\]/.test(path))
    return "the path holds a `;` or a backslash, which servers read differently";
  return { host, path: resolvePath(path), query };
}

function readHost(authority: string, scheme: string): string | null {
  const [, name, port = ""] = HOST.exec(authority) ?? [];
  if (name === undefined || (NUMBER.test(name) && !IPV4.test(name))) return null;
  const isOwnPort = port === "" || port === PORTS.get(scheme);
  return isOwnPort ? name.toLowerCase() : `${name.toLowerCase()}:${port}`;
}

function resolvePath(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return `/${segments.join("/")}`;
}
