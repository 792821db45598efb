/**
 * The common case of a JSON proposal, fast: the envelope is taken apart without making values of it, and the
 * arguments are read once for here and for the decision. Where anything is not as in most proposals it gives up,
 * and the whole is read again by the way that can tell what is wrong.
 */
import { isAscii } from "node:buffer";
import type { CanonicalLimits } from "../core/canonical/limits.ts";
import { keepAhead } from "../core/canonical/parse-canonical.ts";
import { type Member, readMembers } from "../core/canonical/read-members.ts";
import type { Envelope } from "./envelope.ts";
import { asBuffer } from "./record-types.ts";

export const DEFAULT_TENANT = "default";

/** The fields of an envelope; what is beside them is an error, never ignored. */
export const ENVELOPE_FIELDS: ReadonlySet<string> = new Set([
  "tenantId",
  "conversationId",
  "callId",
  "agentId",
  "turn",
  "step",
  "tool",
  "arguments",
  "assistantText",
  "estimatedCost",
  "confirmation",
  "approvalId",
  "traceparent",
  "tracestate",
  "ceId",
  "ceSource",
  "ceType",
  "ceTime",
]);

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Units of a slice that V8 makes as a copy at most (`SlicedString::kMinLength` is one more). */
const COPIED_MAX = 12;
const ARGUMENTS = "arguments";
const NULL = "null";

/** Text that may stand there and is not used here. */
const PASSED_OVER: ReadonlySet<string> = new Set([
  "traceparent",
  "tracestate",
  "ceId",
  "ceSource",
  "ceType",
  "ceTime",
]);

type Draft = { -readonly [field in keyof Envelope]: Envelope[field] | undefined };

/**
 * The envelope in the bytes of a JSON proposal; undefined where they have to be looked at closer. Its fields are of the
 * right types, and nothing else is known of them.
 */
export function readPlainEnvelope(
  value: Uint8Array,
  limits: CanonicalLimits,
): Envelope | undefined {
  if (value.length > limits.maxBytes || !isAscii(value)) return undefined;
  const draft: Draft = {
    tenantId: DEFAULT_TENANT,
    conversationId: undefined,
    callId: undefined,
    agentId: null,
    turn: null,
    step: null,
    tool: undefined,
    arguments: undefined,
    assistantText: null,
    estimatedCost: null,
    confirmation: null,
    approvalId: null,
  };
  const text = asBuffer(value).toString("latin1");
  return readMembers(text, limits, ARGUMENTS, draft, take) && isWhole(draft) ? draft : undefined;
}

function isWhole(draft: Draft): draft is Envelope {
  return (
    draft.conversationId !== undefined &&
    draft.callId !== undefined &&
    draft.tool !== undefined &&
    draft.arguments !== undefined
  );
}

/** False where the member is not as in most proposals. @throws SyntaxError where its string is none. */
function take(draft: Draft, member: Member): boolean {
  const { key, text } = member;
  if (text === NULL) return ENVELOPE_FIELDS.has(key);
  const first = text.charCodeAt(0);
  const isText = first === QUOTE;
  switch (key) {
    case ARGUMENTS:
      draft.arguments = isText ? textOf(text) : text;
      return isText || keepAhead(member);
    case "turn":
    case "step":
      if (!isText && !Number.isSafeInteger(Number(text))) return false;
      draft[key] = String(JSON.parse(text));
      return true;
    case "tenantId":
    case "agentId":
    case "tool":
      if (isText) draft[key] = String(JSON.parse(text));
      return isText;
    case "conversationId":
    case "callId":
    case "assistantText":
    case "confirmation":
    case "approvalId":
      if (isText) draft[key] = textOf(text);
      return isText;
    default:
      return isText && PASSED_OVER.has(key) && textOf(text).length >= 0;
  }
}

/** What a JSON string says. @throws SyntaxError where it is none. */
function textOf(json: string): string {
  return isShortAndPlain(json) ? json.slice(1, -1) : (JSON.parse(json) as string);
}

/**
 * Whether a slice says it: short ones are copies, and JSON.parse would look those up among all texts that the engine
 * knows. Longer ones would keep the whole record in memory.
 */
function isShortAndPlain(json: string): boolean {
  if (json.length > COPIED_MAX + 2) return false;
  for (let at = 1; at < json.length - 1; at += 1) {
    const unit = charCodeAt.call(json, at);
    if (unit === BACKSLASH || unit < SPACE) return false;
  }
  return true;
}
