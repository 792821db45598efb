export interface RequestParts {
  readonly method: string;
  /** With or without scheme and host; null where the tool has none. */
  readonly url: string | null;
  /** As the call has them: an object, a list, a text. */
  readonly headers: unknown;
  readonly body: unknown;
  /** All other arguments of the call: they are searched for overrides of the method. */
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
      /** Decoded, without `.`, `..`, query and fragment: `/a/b`. */
      readonly path: string;
    }
  | { readonly kind: "unclear"; readonly reason: string };

/** Reads an HTTP request. Never throws. A method that something else overrides makes it unclear. */
export function readRequest(parts: RequestParts): RequestReading {
  return { kind: "unclear", reason: `the request with method ${parts.method} was not read` };
}

/** Sorts the arguments of a call by their names (`url`, `uri`, `headers`, `body`, `json`, `data`, …); `argument` names the method's. */
export function requestParts(
  args: Readonly<Record<string, unknown>>,
  argument: string,
): RequestParts {
  return { method: String(args[argument]), url: null, headers: null, body: null, rest: args };
}
