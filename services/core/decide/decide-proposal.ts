/** A proposal: checks 1 to 4 read and identify the call, the others judge it. */

import type { JsonObject } from "../canonical/json-value.ts";
import type { CallContext } from "../checks/check.ts";
import type { DecisionBase, DecisionEvent, GateEvent, Sketch } from "../events.ts";
import { actionDigest } from "../hash.ts";
import type { ProposalInput } from "../inputs.ts";
import { LIMITS } from "../limits.ts";
import { trieGet } from "../persistent/trie.ts";
import { isObject } from "../policy/argument-path.ts";
import type { CompiledPolicy, CompiledTool, ResourceGraph } from "../policy/compiled.ts";
import { toolOfCall } from "../policy/tool-of-call.ts";
import { recalled } from "../state/kept-decision.ts";
import { callNameOf, findNamed } from "../state/names.ts";
import { type ConversationState, initialState } from "../state/state.ts";
import { enterTurn } from "../state/turn.ts";
import { findTwin } from "../state/twins.ts";
import { noAdvice, withAdvice } from "./advice.ts";
import type { Approval } from "./approval.ts";
import { conclude } from "./conclude.ts";
import { type Draft, decisionBase } from "./decision-base.ts";
import { factsOf, sketchesOf, type Touched, touchedBy } from "./facts.ts";
import { judge } from "./judge.ts";
import { type NamedCall, nameCall } from "./name-call.ts";
import { type PlainRefusal, refusePlainly } from "./refuse-unread.ts";

export function decideProposal(
  state: ConversationState | undefined,
  proposal: ProposalInput,
  policy: CompiledPolicy,
  nowMs: number,
): GateEvent {
  const named = nameCall(proposal, policy);
  const base = decisionBase(state, proposal, named, policy, { at: nowMs, proposals: nowMs });
  const unread = refuseUnread(base, proposal, named);
  const known =
    state && findNamed(state, callNameOf(proposal.turn, proposal.step, proposal.callId), nowMs);
  if (known !== undefined) {
    if (known.decisionId === named.decisionId) return repeatedOf(recalled(known, base));
    if (unread === null) return refusePlainly(base, CONFLICT);
  }
  if (unread !== null) return unread;
  const value = named.parsed.ok ? named.parsed.value : null;
  return decideRead(state, proposal, base, value as JsonObject, policy, nowMs, null);
}

const CONFLICT = {
  reason: "call_id_conflict",
  rule: "gate",
  disposition: "change_approach",
  detail: null,
} as const;

function repeatedOf(decision: DecisionEvent): GateEvent {
  const { tenantId, conversationId, decisionId } = decision;
  return { type: "repeated", tenantId, conversationId, decisionId, decision };
}

/** Check 1: what cannot be read is not looked at further. */
function refuseUnread(
  base: DecisionBase,
  proposal: ProposalInput,
  named: NamedCall,
): DecisionEvent | null {
  const { rejected } = proposal;
  const { parsed } = named;
  const plain = { rule: "gate", disposition: "change_approach" } as const;
  if (rejected !== null) {
    return refusePlainly(base, {
      ...plain,
      reason: rejected.reason,
      detail: sentence(rejected.message),
    });
  }
  if (!parsed.ok) {
    return refusePlainly(base, {
      ...plain,
      reason: parsed.reason,
      detail: sentence(parsed.message),
    });
  }
  if (!isObject(parsed.value)) {
    const detail = 'The arguments are not a JSON object: send `{"name": value}`.';
    return refusePlainly(base, { ...plain, reason: "malformed", detail });
  }
  return null;
}

function sentence(message: string): string {
  return `Detail: ${message}.`;
}

/** Checks 3 and 4, then the rest. `approval`: of the hold that a verdict ends, if one does. */
export function decideRead(
  state: ConversationState | undefined,
  proposal: Omit<ProposalInput, "type" | "arguments" | "rejected">,
  base: Draft,
  args: JsonObject,
  policy: CompiledPolicy,
  nowMs: number,
  approval: Approval | null,
): DecisionEvent {
  const tool = toolOfCall(policy, proposal.tool, args);
  const entered: Draft = base;
  entered.entersTurn = approval === null;
  entered.isRead = tool.isRead;
  entered.tier = tool.tier.name;
  const killed = policy.killedBy(proposal);
  if (killed !== null) return refusePlainly(entered, killedBy(killed));
  const advice = noAdvice();
  const unknown = tool.known ? null : "unknown_tool";
  if (unknown !== null && isUnknownRefused(policy, tool)) {
    const mode = tool.modes.unknown_tool;
    const plain = {
      reason: "unknown_tool",
      rule: "unknown_tools",
      disposition: "change_approach",
      detail: `No rule of the policy names \`${proposal.tool}\`.`,
    } as const;
    if (mode === "enforce") return refusePlainly(entered, plain);
    advice.add(mode, plain.reason, plain.rule, plain.detail);
  }
  const read = readArguments(tool, args, base.arguments, policy.graph);
  if (read.problems.length > 0) {
    const mode = tool.modes.invalid_arguments;
    const rule = `${tool.rule}.input_schema`;
    if (mode === "enforce") {
      return withAdvice(
        refusePlainly(entered, {
          reason: "invalid_arguments",
          rule,
          disposition: "change_approach",
          detail: null,
          problems: read.problems,
        }),
        advice,
      );
    }
    advice.add(
      mode,
      "invalid_arguments",
      rule,
      read.problems.map((p) => `${p.path}: ${p.message}`).join("; "),
    );
  }
  const context = contextOf(state, proposal, entered, tool, read, policy, nowMs, approval);
  return withAdvice(conclude(context, entered, judge(context, advice), approval), advice);
}

function killedBy(rule: string): PlainRefusal {
  return { reason: "killed", rule, disposition: "stop", detail: null };
}

/** `unknown_tools` set to a tier (or to allow) makes check 3 pass: the tier judges the call. */
function isUnknownRefused(policy: CompiledPolicy, tool: CompiledTool): boolean {
  return policy.unknownTools === "deny" && !tool.known;
}

interface ReadArguments {
  readonly identityText: string;
  readonly touched: Touched;
  readonly sketches: readonly Sketch[];
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

/** Check 4: every problem is listed. Where it does not enforce, all arguments are the identity. */
function readArguments(
  tool: CompiledTool,
  args: JsonObject,
  text: string,
  graph: ResourceGraph,
): ReadArguments {
  const invalid = tool.validate === null ? [] : tool.validate(args);
  const identity = tool.identity(args, text);
  if (!identity.ok) {
    const problems = [...invalid, ...identity.problems];
    return { identityText: text, touched: UNTOUCHED, sketches: [], problems };
  }
  const touched = touchedBy(tool, identity, graph);
  const unnamed = touched.unnamed.map((rule) => ({
    path: "$",
    message: `an argument that \`${rule}\` needs to name its resource is missing`,
  }));
  const problems = unnamed.length === 0 ? invalid : [...invalid, ...unnamed];
  return { identityText: identity.text, touched, sketches: sketchesOf(tool, identity), problems };
}

const UNTOUCHED: Touched = { resources: null, exclusive: [], unnamed: [] };

function contextOf(
  before: ConversationState | undefined,
  proposal: CallContext["proposal"],
  base: DecisionBase,
  tool: CompiledTool,
  read: ReadArguments,
  policy: CompiledPolicy,
  nowMs: number,
  approval: Approval | null,
): CallContext {
  const known = before ?? initialState(proposal.tenantId, proposal.conversationId, nowMs);
  const state = base.entersTurn ? enterTurn(known, proposal.turn, nowMs) : known;
  const actionKey =
    read.identityText === base.arguments
      ? base.argumentsDigest
      : actionDigest(tool.name, read.identityText);
  const facts = factsOf(tool, policy, read.touched, actionKey, proposal, read.sketches, nowMs);
  return {
    policy,
    tool,
    state,
    proposal,
    decisionId: base.decisionId,
    actionKey,
    nowMs,
    facts,
    twin: findTwin(state, facts.twinKey, tool.isRead, nowMs),
    covered: approval?.stands === true || isConfirmed(state, proposal.confirmation),
    approved: approval?.stands === true,
    wasHeld: approval !== null,
  };
}

/** A confirmation is spent on the first proposal that carries it. */
function isConfirmed(state: ConversationState, confirmation: string | null): boolean {
  if (confirmation === null || state.confirmations.size >= LIMITS.confirmations) return false;
  return trieGet(state.confirmations, confirmation) === undefined;
}
