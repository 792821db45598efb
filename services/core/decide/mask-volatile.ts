/**
 * Masks the parts of an output or error that differ each time without meaning: times, durations, ids of
 * requests, addresses, counts of tries. The same call made again is compared by the masked text; calls with
 * different arguments are compared by the text itself, in which a time may be the answer.
 */
import { listEchoed, type MaskedPart, maskEchoes, withoutEchoes } from "./mask-echoes.ts";

interface Mask {
  readonly name: string;
  readonly example: string;
  readonly pattern: string;
}

/** The table of docs/engine.md. Each pattern is linear in the length of the text. */
export const MASKS: readonly Mask[] = [
  {
    name: "date and time",
    example: "2026-11-26T16:40:05.120Z",
    pattern: String.raw`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?`,
  },
  {
    name: "time of day with seconds",
    example: "16:40:05",
    pattern: String.raw`\b\d\d?:\d\d:\d\d(?:[.,]\d{1,9})?\b`,
  },
  {
    name: "seconds or milliseconds since 1970",
    example: "1764175205120",
    pattern: String.raw`\b1[5-9]\d{8}(?:\d{3})?\b`,
  },
  {
    name: "UUID",
    example: "0b54d2a8-8c1f-4f4e-9a3e-2b8f5c6d7e8f",
    pattern: String.raw`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`,
  },
  {
    name: "duration",
    example: "1.23 s",
    pattern: String.raw`\b\d{1,12}(?:\.\d{1,9})? ?(?:ns|µs|us|ms|s|secs?|seconds?|millis(?:econds)?|minutes?)\b`,
  },
  {
    name: "duration, age or time in a JSON member",
    example: '"age_s": 12',
    pattern: String.raw`"(?:(?:took|elapsed|duration|latency|uptime|timestamp|ts|age)(?:_?(?:ms|s|secs|seconds))?|\w{1,40}_(?:ms|s|secs|seconds))" ?: ?\d{1,15}(?:\.\d{1,9})?`,
  },
  {
    name: "id of a request, search, query or trace",
    example: "request id: req_8f31",
    pattern: String.raw`\b(?:request|search|query|history|trace|span|correlation)[ _-]?id"?(?: ?[:=] ?| )"?[\w-]{4,64}`,
  },
  {
    name: "trace or version tag in a JSON member",
    example: '"etag": "W/3f2a"',
    pattern: String.raw`"(?:trace|etag)" ?: ?"[^"\\]{1,80}"`,
  },
  {
    name: "number of a process",
    example: "(pid 4117)",
    pattern: String.raw`\bpid[ =:] ?\d{1,10}\b`,
  },
  { name: "address in memory", example: "0x7f3a90", pattern: String.raw`\b0x[0-9a-f]{4,16}\b` },
  {
    name: "port of the own machine",
    example: "127.0.0.1:53412",
    pattern: String.raw`\b(?:127\.0\.0\.1|localhost):\d{4,5}\b`,
  },
  {
    name: "count of tries",
    example: "attempt 3, read 7 times",
    pattern: String.raw`\b(?:attempt|try|retry) ?#?\d{1,6}\b|\b\d{1,6} times\b`,
  },
];

const ANY = new RegExp(MASKS.map(({ pattern }) => pattern).join("|"), "gi");

const SIGN = "\u0000";

/**
 * The masked text; null where there is nothing to mask, or where nothing but what would be masked is in the
 * text: then that is the answer. `said`: the arguments of the call, whose values are masked too.
 */
export function maskVolatile(text: string, said: string | null = null): string | null {
  const echoed = said === null ? text : maskEchoes(text, said);
  const masked = /\d/.test(echoed) ? echoed.replace(ANY, SIGN) : echoed;
  return masked === text || !/[\p{L}\p{N}]/u.test(withoutEchoes(masked)) ? null : masked;
}

/** The word that names an error, such as `BUDGET_EXCEEDED`: then its numbers only say how far it went. */
const ERROR_WORD = /\b[A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,6}\b/;

/** As `maskVolatile`; of an error that a word names, numbers are masked too. */
export function maskError(text: string, said: string | null): string | null {
  const masked = maskVolatile(text, said);
  if (!ERROR_WORD.test(text)) return masked;
  const plain = (masked ?? text).replace(/\d+(?:\.\d+)?/g, SIGN);
  return plain === text ? null : plain;
}

/** The parts of a text that `maskVolatile` masks, each once with its name. */
export function listMasked(text: string, said: string | null): readonly MaskedPart[] {
  if (maskVolatile(text, said) === null) return [];
  const rest = said === null ? text : maskEchoes(text, said);
  const parts = new Set([...rest.matchAll(ANY)].map(([part]) => part));
  const volatile = [...parts].map((part) => ({ name: nameOfMask(part), part }));
  return said === null ? volatile : [...listEchoed(text, said), ...volatile];
}

function nameOfMask(part: string): string {
  const mask = MASKS.find(({ pattern }) => new RegExp(`^(?:${pattern})$`, "i").test(part));
  return mask?.name ?? "volatile";
}
