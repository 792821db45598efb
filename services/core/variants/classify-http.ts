import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import type { VariantClass } from "./variant-class.ts";

/** Methods that change nothing by RFC 9110; their answers stand until something is written. */
const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

export function classifyHttp(method: string): VariantClass {
  return SAFE.has(method.trim().toUpperCase()) ? "read" : "write";
}

/** Headers and parameters by which servers take another method than the one of the request. */
const HEADER = "x[-_]http[-_]method(?:[-_]override)?|x[-_]method[-_]override";
/** PHP reads a dot in the name of a parameter as `_`. */
const OVERRIDE = new RegExp(`^\\s*(?:${HEADER}|[_.]method)\\s*$`, "i");
/**
 * The name within a text: `payment_method` is another, and `a._method()` and `a.method = b` are none. In a form of several
 * parts, or of HTML, it may stand without quotes.
 */
const OVERRIDE_IN_TEXT = new RegExp(
  [
    `(?<![\\w-])(?:${HEADER})(?![\\w-])`,
    `(?<![\\w.$-])_method(?=\\s*(?:["'=:]|$))`,
    `\\.method(?<=(?:^|[?&;])[\\s+]*.method)(?=\\s*=)`,
    `[_.]method(?<=\\bname\\s*=\\s*["']?.method)(?![\\w-])`,
  ].join("|"),
  "gi",
);
/** Sticky: what follows the name of a header in its line, or of a parameter; first group: the method. */
const VALUE = /(?:[ \t]*:[ \t]*|=)([A-Za-z]+)[ \t]*(?=[&#\r\n]|$)/y;
const METHOD = /^\s*[A-Za-z]+\s*$/;

export interface HttpMethods {
  /** The method of the call, and those that its arguments ask the server to take instead. */
  readonly methods: readonly string[];
  /** They name another method in a way that is not read: it may be any. */
  readonly unknown: boolean;
}

export function methodsOf(method: string, args: JsonObject): HttpMethods {
  const found = { methods: [method], unknown: false };
  addOverrides(args, found);
  return found;
}

interface Found {
  readonly methods: string[];
  unknown: boolean;
}

/** However deep it lies: nobody knows which member an HTTP client makes its headers of. */
function addOverrides(args: JsonObject, found: Found): void {
  const open: JsonValue[] = [args];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === "string") addOverridesIn(value, found);
    if (typeof value !== "object" || value === null) continue;
    for (const [key, member] of Object.entries(value)) {
      addOverrideOf(key, member, found);
      open.push(member);
    }
  }
}

function addOverrideOf(key: string, value: JsonValue, found: Found): void {
  if (!OVERRIDE.test(key)) addOverridesIn(key, found);
  else if (typeof value === "string" && METHOD.test(value)) found.methods.push(value);
  else found.unknown = true;
}

function addOverridesIn(text: string, found: Found): void {
  const plain = decoded(text);
  for (const { index, 0: name } of plain.matchAll(OVERRIDE_IN_TEXT)) {
    VALUE.lastIndex = index + name.length;
    const method = VALUE.exec(plain)?.[1];
    // The name alone has its value somewhere beside it; in JSON and the like it is not looked for.
    if (method === undefined) found.unknown = true;
    else found.methods.push(method);
  }
}

/** Letters as addresses and JSON may write them. */
function decoded(text: string): string {
  return text.replace(/(?:%|\\u00)([0-7][\da-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
