/** Encodes and decodes verdicts and ticks as Avro, on their topic and in the journal. */
import type { TickInput, VerdictInput } from "../core/inputs.ts";
import { speakerProblem } from "../core/speaker.ts";
import type { DecodedInput } from "../runtime/ports.ts";
import { KINDS, member, OUTCOMES, optionalMember, SCOPES } from "./closed-lists.ts";
import { looksLikeJson } from "./framing.ts";
import { conversationProblem } from "./input-rules.ts";
import { UndecodableError } from "./reader.ts";
import type { RecordTypes } from "./record-types.ts";
import { wellFormedOrNull } from "./well-formed.ts";

export type RawVerdict = {
  readonly kind: string;
  readonly tenantId: string | null;
  readonly conversationId: string | null;
  readonly by: string | null;
  readonly reason: string | null;
  readonly approvalId: string | null;
  readonly decisionId: string | null;
  readonly outcome: string | null;
  readonly tier: string | null;
  readonly tool: string | null;
  readonly calls: number | null;
  readonly untilMs: number | null;
  readonly callId: string | null;
  readonly actionKey: string | null;
  readonly ruleDigest: string | null;
  readonly scope: string | null;
};

const TICK = { kind: "tick" };

/**
 * Bytes of a verdict or tick for the verdicts topic.
 *
 * @throws FatalError where a field does not fit the schema.
 */
export function encodeVerdict(types: RecordTypes, verdict: VerdictInput | TickInput): Uint8Array {
  if (verdict.type === "tick") return types.verdict.encode(TICK);
  const raw = verdictToRaw(verdict);
  const scope = givesAnyNumber(verdict) ? ANY_NUMBER : raw.scope;
  return types.verdict.encode({ ...raw, scope, reason: wellFormedOrNull(verdict.reason) });
}

/** Decodes a verdict or tick from Avro or JSON. @throws UndecodableError */
export function decodeVerdict({ verdict: type }: RecordTypes, value: Uint8Array): DecodedInput {
  const raw = (looksLikeJson(value) ? type.decodeJson(value) : type.decode(value)) as RawVerdict;
  if (raw.kind === "tick") return { ok: true, input: { type: "tick" } };
  const verdict = verdictFromRaw(raw);
  // An approval that names the call's tool for information only does not apply to all calls of the
  // tool.
  const isThisCall = givesAnyNumber(verdict) && raw.scope !== ANY_NUMBER;
  const input = isThisCall ? { ...verdict, tool: null } : verdict;
  const message = conversationProblem(input) ?? speakerProblem(input.by);
  return message === undefined ? { ok: true, input } : { ok: false, message };
}

/** `scope` of an approval that lets its tool be called any number of times. */
const ANY_NUMBER = "this_tool";

function givesAnyNumber({ kind, tool, calls }: VerdictInput): boolean {
  return kind === "approve" && tool !== null && calls === null;
}

export function verdictToRaw(verdict: VerdictInput): RawVerdict {
  return {
    kind: verdict.kind,
    tenantId: verdict.tenantId,
    conversationId: verdict.conversationId,
    by: verdict.by,
    reason: verdict.reason,
    approvalId: verdict.approvalId,
    decisionId: verdict.decisionId,
    outcome: verdict.outcome,
    tier: verdict.tier,
    tool: verdict.tool,
    calls: verdict.calls,
    untilMs: verdict.untilMs,
    callId: verdict.about?.callId ?? null,
    actionKey: verdict.about?.actionKey ?? null,
    ruleDigest: verdict.about?.ruleDigest ?? null,
    scope: null,
  };
}

/** @throws UndecodableError */
export function verdictFromRaw(raw: RawVerdict): VerdictInput {
  const kind = member(KINDS, raw.kind);
  if (kind === "tick") throw new UndecodableError("a tick is no verdict of a person");
  return {
    type: "verdict",
    kind,
    tenantId: requireText(raw.tenantId, "tenantId"),
    conversationId: requireText(raw.conversationId, "conversationId"),
    approvalId: raw.approvalId,
    decisionId: raw.decisionId,
    outcome: optionalMember(OUTCOMES, raw.outcome),
    tier: raw.tier,
    // An approval for this call alone does not apply to the tool.
    tool: optionalMember(SCOPES, raw.scope) === "this_call" ? null : raw.tool,
    calls: raw.calls,
    untilMs: raw.untilMs,
    by: requireText(raw.by, "by"),
    reason: raw.reason,
    ...aboutFromRaw(raw),
  };
}

function aboutFromRaw({ callId, actionKey, ruleDigest }: RawVerdict): Pick<VerdictInput, "about"> {
  if (callId === null && actionKey === null && ruleDigest === null) return {};
  return { about: { callId, actionKey, ruleDigest } };
}

function requireText(text: string | null, field: string): string {
  if (text === null) throw new UndecodableError(`a verdict must say \`${field}\``);
  return text;
}
