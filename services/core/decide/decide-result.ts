/** Decides a result: it counts if it names an open call and is the first. */

import { trieGet } from "../../collections/trie.ts";
import { canonicalText } from "../canonical/canonical-text.ts";
import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import { parseCanonical } from "../canonical/parse-canonical.ts";
import { utf8Length } from "../canonical/utf8.ts";
import { cutText } from "../cut-text.ts";
import type { GateEvent, IgnoredWhy, ResultRecorded } from "../events.ts";
import { failureForm } from "../failure-forms.ts";
import { sha256Hex } from "../hash.ts";
import type {
  CallError,
  FailureEffect,
  ResultInput,
  ResultStatus,
  StatusBasis,
} from "../inputs.ts";
import { LIMITS } from "../limits.ts";
import { isObject } from "../policy/argument-path.ts";
import type { CompiledPolicy, CompiledTool } from "../policy/compiled.ts";
import { looksFailedByDefault, looksTransient } from "../policy/failure-text.ts";
import { findDoubt } from "../state/doubts.ts";
import type { ConversationState, OpenCall } from "../state/state.ts";
import { EMPTY_DIGEST, isEmptyResult } from "./is-empty-result.ts";
import { makeRoomForOutput } from "./make-room.ts";
import { maskError, maskVolatile } from "./mask-volatile.ts";
import { nameEffects } from "./name-effects.ts";

export function decideResult(
  state: ConversationState | undefined,
  input: ResultInput,
  policy: CompiledPolicy,
  nowMs: number,
): GateEvent {
  if (state === undefined) return ignored(input, "unknown_call");
  const open = trieGet(state.open, input.decisionId);
  if (open === undefined) return settleDoubt(state, input, policy, nowMs);
  if (open.status === "held") return ignored(input, "unknown_call");
  if (open.callId !== input.callId) return ignored(input, "wrong_call");
  if (input.status === "started" && (open.started || open.status === "unknown")) {
    return ignored(input, "already_reported");
  }
  if (input.status === "unknown" && open.status === "unknown") {
    return ignored(input, "already_reported");
  }
  return recorded(state, open, input, policy, nowMs);
}

/** A later report on a call that failed and may have taken effect settles the doubt. */
function settleDoubt(
  state: ConversationState,
  input: ResultInput,
  policy: CompiledPolicy,
  nowMs: number,
): GateEvent {
  const call = findDoubt(state, input.decisionId);
  if (call === undefined) return ignored(input, "unknown_call");
  if (call.callId !== input.callId) return ignored(input, "wrong_call");
  const isDefinite =
    input.status === "succeeded" ||
    input.status === "not_executed" ||
    (input.status === "failed" && input.effect === "none");
  return isDefinite
    ? recorded(state, call, input, policy, nowMs)
    : ignored(input, "already_reported");
}

function ignored(input: ResultInput, why: IgnoredWhy): GateEvent {
  const { tenantId, conversationId, decisionId } = input;
  return { type: "ignored", tenantId, conversationId, input: "result", why, id: decisionId };
}

function recorded(
  state: ConversationState,
  open: OpenCall,
  input: ResultInput,
  policy: CompiledPolicy,
  nowMs: number,
): ResultRecorded {
  const tool = policy.tool(open.tool);
  const output = input.status === "started" ? null : input.output;
  const bytes = input.outputBytes ?? bytesOf(output);
  const error = judgedError(tool, input);
  const failed = error !== null;
  const keeps = bytes <= policy.outputBytes && isWhole(output, bytes);
  const status = failed && input.status === "succeeded" ? "failed" : input.status;
  const transient = failed && isTransient(error, output);
  const effect = status === "failed" ? effectOf(open, input) : null;
  return {
    type: "result_recorded",
    tenantId: open.held?.tenantId ?? input.tenantId,
    conversationId: input.conversationId,
    decisionId: input.decisionId,
    callId: input.callId,
    tool: open.tool,
    atMs: nowMs,
    status,
    effect,
    output: keeps ? output : null,
    ...(failed ? errorDigests(error, input, open.said) : outputDigests(tool, input, keeps, open)),
    outputBytes: bytes,
    whole: keeps,
    error,
    transient,
    durationMs: input.durationMs,
    cost: input.cost,
    effects: mayHaveActed(status, effect)
      ? nameEffects(state, open, isWhole(output, bytes) ? output : null, policy)
      : null,
    evicted: keeps && open.isRead ? makeRoomForOutput(state, bytes, open.atMs) : null,
  };
}

/** Whether the output is complete, as far as the report says. */
function isWhole(output: string | null, bytes: number): output is string {
  return output !== null && utf8Length(output) >= bytes;
}

function mayHaveActed(status: ResultStatus, effect: FailureEffect | null): boolean {
  return status === "succeeded" || effect === "possible";
}

/** Only the reporter of a failure can say that it had no effect; no text can. */
function effectOf({ isRead }: OpenCall, { status, effect }: ResultInput): FailureEffect {
  if (status === "failed" && effect != null) return effect;
  return isRead ? "none" : "possible";
}

/** The reported error; or an error made of the output, where nobody reported how the call ended. */
function judgedError(tool: CompiledTool, input: ResultInput): CallError | null {
  if (input.status === "failed") {
    return input.error ?? { code: null, message: input.output ?? "", retryable: null };
  }
  if (input.status !== "succeeded" || input.output === null) return null;
  if (!readsAsFailure(tool, input.output, input.basis ?? "reported")) return null;
  return { code: null, message: cutText(input.output, LIMITS.shownResult), retryable: null };
}

/** A reported status is final. Patterns count only where nobody reported how the call ended. */
function readsAsFailure(tool: CompiledTool, output: string, basis: StatusBasis): boolean {
  if (basis === "reported") return false;
  if (tool.matchesErrorPattern(output)) return true;
  return basis === "text" && (failureForm(output) !== null || looksFailedByDefault(output));
}

function isTransient(error: CallError, output: string | null): boolean {
  if (error.retryable !== null) return error.retryable;
  return looksTransient(error.code, error.message) || looksTransient(null, output ?? "");
}

type Digests = Pick<ResultRecorded, "outputDigest" | "maskedDigest">;

function errorDigests(error: CallError, input: ResultInput, said: string | null): Digests {
  const output = input.status === "started" ? null : input.output;
  return {
    outputDigest: errorDigest(error, output, input),
    maskedDigest: maskedErrorDigest(error, output, said),
  };
}

function outputDigests(
  tool: CompiledTool,
  input: ResultInput,
  keeps: boolean,
  { isRead, said }: OpenCall,
): Digests {
  return {
    outputDigest: outputDigest(tool, input, keeps),
    maskedDigest: maskedDigest(tool, input, keeps, isRead ? said : null),
  };
}

function errorDigest(error: CallError, output: string | null, input: ResultInput): string {
  if (input.outputDigest !== null) return input.outputDigest;
  return sha256Hex("callgate.error.v1", error.code ?? "", error.message, output ?? "");
}

/**
 * Digest of the output without the parts that are declared volatile; otherwise of the output as
 * reported.
 */
function outputDigest(tool: CompiledTool, input: ResultInput, keeps: boolean): string | null {
  const { output } = input;
  const stable = keeps && output !== null ? stableText(tool, output) : null;
  if (stable !== null) return sha256Hex("callgate.output.v1", stable);
  if (input.outputDigest !== null) return input.outputDigest;
  return output === null ? null : sha256Hex("callgate.output.v1", output);
}

/** The digest by which a repeat of the call is compared; null: by that of the output itself. */
function maskedDigest(
  tool: CompiledTool,
  { output }: ResultInput,
  keeps: boolean,
  said: string | null,
): string | null {
  if (!keeps || output === null) return null;
  if (said !== null && isEmptyResult(output, said)) return EMPTY_DIGEST;
  const masked = maskVolatile(stableText(tool, output) ?? output, said);
  return masked === null ? null : sha256Hex("callgate.masked.v1", masked);
}

function maskedErrorDigest(
  { code, message }: CallError,
  output: string | null,
  said: string | null,
): string | null {
  const masked = maskError(`${message}\n${output ?? ""}`, said);
  return masked === null ? null : sha256Hex("callgate.masked-error.v1", code ?? "", masked);
}

/** The output without the parts that are declared volatile; null: none is, or it is no JSON. */
function stableText({ volatileOutput }: CompiledTool, output: string): string | null {
  if (volatileOutput.length === 0) return null;
  const parsed = parseCanonical(output);
  return parsed.ok ? canonicalText(volatileOutput.reduce(withoutMember, parsed.value)) : null;
}

function withoutMember(value: JsonValue, path: readonly string[]): JsonValue {
  const [head, ...rest] = path;
  if (head === undefined) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => withoutMember(item, path));
  if (!isObject(value) || !Object.hasOwn(value, head)) return value;
  const { [head]: member, ...others } = value;
  if (rest.length === 0) return others as JsonObject;
  return { ...others, [head]: withoutMember(member as JsonValue, rest) };
}

function bytesOf(output: string | null): number {
  return output === null ? 0 : utf8Length(output);
}
