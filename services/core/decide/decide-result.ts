/** A result: it counts if it names a call that is open, and is the first. */

import { canonicalText } from "../canonical/canonical-text.ts";
import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import { parseCanonical } from "../canonical/parse-canonical.ts";
import { cutText } from "../cut-text.ts";
import type { GateEvent, IgnoredWhy, ResultRecorded } from "../events.ts";
import { sha256Hex } from "../hash.ts";
import type { CallError, ResultInput } from "../inputs.ts";
import { LIMITS } from "../limits.ts";
import { trieGet } from "../persistent/trie.ts";
import { isObject } from "../policy/argument-path.ts";
import type { CompiledPolicy, CompiledTool } from "../policy/compiled.ts";
import { looksTransient } from "../policy/failure-text.ts";
import type { ConversationState, OpenCall } from "../state/state.ts";
import { makeRoomForOutput } from "./make-room.ts";
import { nameEffects } from "./name-effects.ts";

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

export function decideResult(
  state: ConversationState | undefined,
  input: ResultInput,
  policy: CompiledPolicy,
  nowMs: number,
): GateEvent {
  const open = state === undefined ? undefined : trieGet(state.open, input.decisionId);
  if (state === undefined || open === undefined) return ignored(input, "unknown_call");
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
  const bytes = input.outputBytes ?? utf8Bytes(output);
  const error = judgedError(tool, input);
  const failed = error !== null;
  const keeps = bytes <= policy.outputBytes && isWhole(output, bytes);
  const status = failed && input.status === "succeeded" ? "failed" : input.status;
  const transient = failed && (tool.failsPartly || isTransient(error, output));
  return {
    type: "result_recorded",
    tenantId: open.held?.tenantId ?? input.tenantId,
    conversationId: input.conversationId,
    decisionId: input.decisionId,
    callId: input.callId,
    tool: open.tool,
    atMs: nowMs,
    status,
    output: keeps ? output : null,
    outputDigest: failed ? errorDigest(error, output, input) : outputDigest(tool, input, keeps),
    outputBytes: bytes,
    whole: keeps,
    error,
    transient,
    durationMs: input.durationMs,
    cost: input.cost,
    effects: mayHaveActed(status, transient)
      ? nameEffects(state, open, isWhole(output, bytes) ? output : null, policy.graph)
      : null,
    evicted: keeps && open.isRead ? makeRoomForOutput(state, bytes, open.atMs) : null,
  };
}

/** Not cut, as far as the report says. */
function isWhole(output: string | null, bytes: number): output is string {
  return output !== null && utf8Bytes(output) >= bytes;
}

function mayHaveActed(status: ResultRecorded["status"], transient: boolean): boolean {
  return status === "succeeded" || (status === "failed" && transient);
}

/** The reported error; or one made of an output that is an error in disguise. */
function judgedError(tool: CompiledTool, input: ResultInput): CallError | null {
  if (input.status === "failed") {
    return input.error ?? { code: null, message: input.output ?? "", retryable: null };
  }
  if (input.status !== "succeeded" || input.output === null) return null;
  if (!tool.looksFailed(input.output)) return null;
  return { code: null, message: cutText(input.output, LIMITS.shownResult), retryable: null };
}

function isTransient(error: CallError, output: string | null): boolean {
  if (error.retryable !== null) return error.retryable;
  return looksTransient(error.code, error.message) || looksTransient(null, output ?? "");
}

function errorDigest(error: CallError, output: string | null, input: ResultInput): string {
  if (input.outputDigest !== null) return input.outputDigest;
  return sha256Hex("callgate.error.v1", error.code ?? "", error.message, output ?? "");
}

/** Of the output without what is declared to vary; of the whole as reported otherwise. */
function outputDigest(tool: CompiledTool, input: ResultInput, keeps: boolean): string | null {
  const { output } = input;
  if (tool.volatileOutput.length > 0 && keeps && output !== null) {
    const parsed = parseCanonical(output);
    if (parsed.ok) {
      const stable = tool.volatileOutput.reduce(withoutMember, parsed.value);
      return sha256Hex("callgate.output.v1", canonicalText(stable));
    }
  }
  if (input.outputDigest !== null) return input.outputDigest;
  return output === null ? null : sha256Hex("callgate.output.v1", output);
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

function utf8Bytes(text: string | null): number {
  if (text === null) return 0;
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = charCodeAt.call(text, i);
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}
