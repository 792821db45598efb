/**
 * Arguments that a caller makes up anew for each try, by their names: they name the try, and not what is
 * done. A write is the same one whatever they hold. Ids of requests and times are none of them: they may be
 * what a call is about.
 */
import type { JsonObject } from "../canonical/json-value.ts";

/** In lower case, without separators; the stem is what a tool is about that takes it as its object. */
const STEMS: ReadonlyMap<string, string> = new Map([
  ["idempotencykey", "idempotency"],
  ["idempotencytoken", "idempotency"],
  ["clientrequestid", "request"],
  ["nonce", "nonce"],
  ["traceid", "trace"],
  ["traceparent", "trace"],
  ["spanid", "span"],
  ["correlationid", "correlation"],
]);

const IN_TEXT =
  /"(?:idempotency[_-]?(?:key|token)|client[_-]?request[_-]?id|nonce|trace[_-]?id|traceparent|span[_-]?id|correlation[_-]?id)":/i;

export function mayHaveFreshKey(text: string): boolean {
  return IN_TEXT.test(text);
}

/**
 * The arguments without such keys at their top level; null: there is none, the policy names it, the tool is
 * about it, or nothing else would be left.
 */
export function leaveOutFreshKeys(
  args: JsonObject,
  tool: string,
  declared: { readonly [argument: string]: unknown },
): JsonObject | null {
  const fresh = listFreshKeys(args, tool).filter((key) => !Object.hasOwn(declared, key));
  const rest = Object.entries(args).filter(([key]) => !fresh.includes(key));
  if (rest.length === 0 || rest.length === Object.keys(args).length) return null;
  return Object.fromEntries(rest);
}

/** Names of such arguments at the top level. */
export function listFreshKeys(args: JsonObject, tool: string): readonly string[] {
  const about = plain(tool);
  return Object.keys(args).filter((key) => {
    const stem = STEMS.get(plain(key));
    return stem !== undefined && !about.includes(stem);
  });
}

function plain(name: string): string {
  return name.replace(/[-_]/g, "").toLowerCase();
}
