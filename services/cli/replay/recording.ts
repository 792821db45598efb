/**
 * Recorded conversations: one JSON object per line, of which `id`, `calls[].tool` and
 * `calls[].args` are required. Everything else is optional, and null counts as absent.
 */
import { parseCanonical } from "../../core/canonical/parse-canonical.ts";
import { locateJsonError } from "../output/read-json.ts";
import { rawItems, rawMembers } from "./raw-json.ts";

export interface RecordedCall {
  readonly tool: string;
  /** The arguments as JSON text: any JSON value, which the gate checks. */
  readonly argumentsText: string;
  readonly output: string | null;
  /** Digest of the whole output, even if the recording cuts the output. */
  readonly outputHash: string | null;
  readonly isError: boolean;
  readonly turn: string | null;
  /** Consecutive calls with one step (of one turn) were issued together. */
  readonly step: string | null;
  /** Time of the call in ms; null if the recording has none. */
  readonly atMs: number | null;
}

export interface RecordedConversation {
  readonly id: string;
  readonly calls: readonly RecordedCall[];
}

type ParsedRecording =
  | { readonly ok: true; readonly conversation: RecordedConversation }
  | {
      readonly ok: false;
      readonly problem: string;
      /** From 1; null if the line is JSON but no conversation. */
      readonly column: number | null;
    };

/** Larger than any line may be: the gate checks each call's arguments by its own limits. */
const LINE_LIMITS = { maxBytes: 64 * 1024 * 1024, maxDepth: 1_000, maxKeys: 10_000_000 };

/** Never throws: a problem is returned as one sentence for the owner of the file. */
export function parseRecording(line: string): ParsedRecording {
  try {
    const conversation = conversationOf(JSON.parse(line));
    // What parsing has changed must not be replayed as something that the gate would not have seen.
    const isExact = parseCanonical(line, LINE_LIMITS).ok;
    return { ok: true, conversation: isExact ? conversation : asWritten(conversation, line) };
  } catch (error) {
    if (error instanceof WrongRecording) return { ok: false, problem: error.message, column: null };
    if (error instanceof SyntaxError) return notJson(line, error);
    throw error;
  }
}

type ParsedCall =
  | { readonly ok: true; readonly call: RecordedCall }
  | { readonly ok: false; readonly problem: string };

/** Reads a single call. */
export function parseRecordedCall(json: unknown): ParsedCall {
  try {
    return { ok: true, call: callOf(json, "call") };
  } catch (error) {
    if (error instanceof WrongRecording) return { ok: false, problem: error.message };
    throw error;
  }
}

function notJson(line: string, error: SyntaxError): ParsedRecording {
  const { column } = locateJsonError(line, error);
  return { ok: false, problem: `the line is not one JSON value (${error.message})`, column };
}

class WrongRecording extends Error {}

type JsonMap = Readonly<Record<string, unknown>>;

function conversationOf(json: unknown): RecordedConversation {
  if (!isMap(json)) throw new WrongRecording("a line must be an object with `id` and `calls`");
  const id = json["id"];
  if (typeof id !== "string") throw new WrongRecording("`id` must be a string");
  const calls = json["calls"];
  if (!Array.isArray(calls)) throw new WrongRecording("`calls` must be a list");
  return { id, calls: calls.map((call: unknown, index) => callOf(call, `calls[${index}]`)) };
}

/** Restores from the line what parsing may change: arguments, outputs, numbers for turn or step. */
function asWritten({ id, calls }: RecordedConversation, line: string): RecordedConversation {
  const written = rawItems(rawMembers(line).get("calls") ?? "[]").map(rawMembers);
  return {
    id,
    calls: calls.map((call, index) => {
      const members = written[index] ?? new Map<string, string>();
      return {
        ...call,
        argumentsText: members.get("args") ?? call.argumentsText,
        output: textAsWritten(call.output, members.get("output")),
        turn: labelAsWritten(call.turn, members.get("turn")),
        step: labelAsWritten(call.step, members.get("step")),
      };
    }),
  };
}

/** A value that is no text keeps the form that it has in the line. */
function textAsWritten(read: string | null, written: string | undefined): string | null {
  return read === null || written === undefined || written.startsWith('"') ? read : written;
}

function labelAsWritten(read: string | null, written: string | undefined): string | null {
  return Number.isSafeInteger(Number(read)) ? read : textAsWritten(read, written);
}

function callOf(json: unknown, at: string): RecordedCall {
  if (!isMap(json)) throw new WrongRecording(`\`${at}\` must be an object`);
  const tool = json["tool"];
  if (typeof tool !== "string") throw new WrongRecording(`\`${at}.tool\` must be a string`);
  const args = json["args"];
  if (args === undefined) throw new WrongRecording(`\`${at}.args\` is missing`);
  return {
    tool,
    argumentsText: JSON.stringify(args),
    output: outputOf(json["output"]),
    outputHash: textOf(json["output_hash"], `${at}.output_hash`),
    isError: flagOf(json["is_error"], `${at}.is_error`),
    turn: labelOf(json["turn"], `${at}.turn`),
    step: labelOf(json["step"], `${at}.step`),
    atMs: timeOf(json["ts"], `${at}.ts`),
  };
}

function isMap(json: unknown): json is JsonMap {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** Recordings have JSON outputs either as text or as JSON. */
function outputOf(json: unknown): string | null {
  if (json === undefined || json === null) return null;
  return typeof json === "string" ? json : JSON.stringify(json);
}

function textOf(json: unknown, at: string): string | null {
  if (json === undefined || json === null) return null;
  if (typeof json === "string") return json;
  throw new WrongRecording(`\`${at}\` must be a string or null`);
}

function flagOf(json: unknown, at: string): boolean {
  if (json === undefined || json === null) return false;
  if (typeof json === "boolean") return json;
  throw new WrongRecording(`\`${at}\` must be true, false or null`);
}

function labelOf(json: unknown, at: string): string | null {
  if (json === undefined || json === null) return null;
  if (typeof json === "string" || typeof json === "number") return String(json);
  throw new WrongRecording(`\`${at}\` must be a number, a string or null`);
}

const HAS_ZONE = /(?:[zZ]|[+-]\d{2}:?\d{2})$/;
const HAS_TIME = /\d[T ]\d/;

/** ISO 8601, UTC if there is no zone; or milliseconds since 1970. */
function timeOf(json: unknown, at: string): number | null {
  if (json === undefined || json === null) return null;
  if (typeof json === "number") return Math.trunc(json);
  if (typeof json === "string") {
    const zoned = HAS_ZONE.test(json) || !HAS_TIME.test(json) ? json : `${json}Z`;
    const ms = Date.parse(zoned);
    if (!Number.isNaN(ms)) return ms;
  }
  throw new WrongRecording(
    `\`${at}\` must be an ISO 8601 time, e.g. 2026-03-08T20:38:24Z, or null`,
  );
}

/** Consecutive calls with one step of one turn were issued in one model message. */
export function issuedTogether(before: RecordedCall | undefined, call: RecordedCall): boolean {
  return call.step !== null && before?.step === call.step && before.turn === call.turn;
}

const STEP_MS = 1_000;

/**
 * Gate time of each call in ms, never falling: its recorded time if every call has one, else one
 * second for each new step (a call without a step is its own step).
 */
export function gateTimes(calls: readonly RecordedCall[]): readonly number[] {
  const recorded = calls.every(({ atMs }) => atMs !== null);
  let nowMs = 0;
  return calls.map((call, index) => {
    if (recorded) nowMs = index === 0 ? (call.atMs ?? 0) : Math.max(nowMs, call.atMs ?? 0);
    else if (!issuedTogether(calls[index - 1], call)) nowMs += STEP_MS;
    return nowMs;
  });
}
