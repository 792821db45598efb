/**
 * A proposal as plain JSON, for producers without Avro. The strict parser of the arguments also
 * reads the envelope, so that no two parsers can read it differently.
 */

import type { JsonObject, JsonValue } from "../core/canonical/json-value.ts";
import {
  type CanonicalLimits,
  DEFAULT_CANONICAL_LIMITS,
  GREATEST_MAX_BYTES,
} from "../core/canonical/limits.ts";
import { parseCanonical } from "../core/canonical/parse-canonical.ts";
import { cutText } from "../core/cut-text.ts";
import type { EnvelopeRejection, Money } from "../core/inputs.ts";
import type { DecodedInput } from "../runtime/ports.ts";
import { withoutNonFinite } from "./non-finite.ts";
import { type Envelope, toInput } from "./proposal.ts";

const DEFAULT_TENANT = "default";

/** The fields of an envelope; any other field is an error, never ignored. */
const ENVELOPE_FIELDS: ReadonlySet<string> = new Set([
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

const SHOWN_CHARACTERS = 40;

const ENVELOPE_KEYS = ENVELOPE_FIELDS.size + 2;

/**
 * The policy limits the arguments themselves; these limits leave room for the envelope around them.
 */
const ENVELOPE_LIMITS: CanonicalLimits = {
  maxBytes: GREATEST_MAX_BYTES + 64 * 1024,
  maxDepth: DEFAULT_CANONICAL_LIMITS.maxDepth + 1,
  maxKeys: DEFAULT_CANONICAL_LIMITS.maxKeys + ENVELOPE_KEYS,
};

/** The input of a JSON proposal. Total. */
export function decodeJsonProposal(value: Uint8Array): DecodedInput {
  const parsed = parseCanonical(value, ENVELOPE_LIMITS);
  if (parsed.ok) return readEnvelope(parsed.value as JsonObject, undefined);
  const { reason, message } = parsed;
  const text = new TextDecoder().decode(value);
  const { text: finite, first } = withoutNonFinite(text);
  const names = namesIn(finite);
  if (names === undefined) return { ok: false, message: `not strict JSON: ${message}` };
  const word = `found \`${first}\`, which JSON does not have: send null or a text instead`;
  const isWord = first !== null && parsed.code === "syntax";
  const rejection = { reason, message: isWord ? word : message };
  return readEnvelope({ ...names, arguments: text }, rejection);
}

/** Reads names only, so that the refusal of a text that is not strict JSON reaches its agent. */
function namesIn(text: string): JsonObject | undefined {
  try {
    return onlyNames(JSON.parse(text) as JsonObject);
  } catch {
    return undefined;
  }
}

function onlyNames(whole: JsonObject): JsonObject {
  const names = ["tenantId", "conversationId", "callId", "turn", "step", "tool"];
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(whole, name)).map((name) => [name, whole[name] ?? null]),
  );
}

function readEnvelope(value: JsonObject, rejection: EnvelopeRejection | undefined): DecodedInput {
  const problems: string[] = [];
  const text = (field: string): string | null => readText(value, field, problems);
  const tenantId = text("tenantId") ?? DEFAULT_TENANT;
  const conversationId = text("conversationId");
  const callId = text("callId");
  const tool = text("tool");
  if (problems[0] !== undefined) return { ok: false, message: problems[0] };
  if (conversationId === null || callId === null || tool === null) {
    return { ok: false, message: missing({ conversationId, callId, tool }) };
  }
  // Spelled out, not spread: this runs once for each call.
  const envelope: Envelope = {
    tenantId,
    conversationId,
    callId,
    agentId: text("agentId"),
    turn: readCount(value, "turn", problems),
    step: readCount(value, "step", problems),
    tool,
    arguments: readArgumentText(value, problems),
    assistantText: text("assistantText"),
    estimatedCost: readMoney(value["estimatedCost"] ?? null, problems),
    confirmation: text("confirmation"),
    approvalId: text("approvalId"),
  };
  for (const field of ["traceparent", "tracestate", "ceId", "ceSource", "ceType", "ceTime"]) {
    text(field);
  }
  for (const field of Object.keys(value)) {
    if (!ENVELOPE_FIELDS.has(field)) {
      problems.push(`unknown field \`${cutText(field, SHOWN_CHARACTERS)}\``);
    }
  }
  const message = problems.join("; ");
  return toInput(
    envelope,
    rejection ?? (message === "" ? undefined : { reason: "malformed", message }),
  );
}

function missing(names: { readonly [name: string]: string | null }): string {
  const absent = Object.keys(names).filter((name) => names[name] === null);
  return `\`${absent.join("`, `")}\` must be given, as text`;
}

function readText(value: JsonObject, field: string, problems: string[]): string | null {
  const member = value[field] ?? null;
  if (member === null || typeof member === "string") return member;
  problems.push(`\`${field}\` must be text`);
  return null;
}

/** Turns and steps are often numbers: a whole number is accepted as its digits. */
function readCount(value: JsonObject, field: string, problems: string[]): string | null {
  const member = value[field] ?? null;
  if (member === null || typeof member === "string") return member;
  if (Number.isSafeInteger(member)) return String(member);
  problems.push(`\`${field}\` must be text or a whole number`);
  return null;
}

/** Arguments are JSON itself, or JSON text in a string. */
function readArgumentText(value: JsonObject, problems: string[]): string {
  const callArguments = value["arguments"];
  if (typeof callArguments === "string") return callArguments;
  if (callArguments === undefined) {
    problems.push("`arguments` must be given, as an object or as JSON text");
    return "";
  }
  return JSON.stringify(callArguments);
}

function readMoney(money: JsonValue, problems: string[]): Money | null {
  if (money === null) return null;
  const problem = "`estimatedCost` must be { microUnits: whole number, currency: text }";
  if (typeof money !== "object" || Array.isArray(money)) {
    problems.push(problem);
    return null;
  }
  const { microUnits, currency, ...rest } = money as JsonObject;
  const isMoney = Number.isSafeInteger(microUnits) && typeof currency === "string";
  if (isMoney && Object.keys(rest).length === 0) {
    return { microUnits: microUnits as number, currency };
  }
  problems.push(problem);
  return null;
}
