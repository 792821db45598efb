/**
 * Decides a call without journaling anything: under the policy in force, on the state that the
 * conversation has now, or on none.
 *
 * The state is the fold of the conversation's journaled events, as the gate's own is.
 */
import type { Decision, ProposedCall } from "../../client/api/gate-types.ts";
import { decisionOf } from "../../client/decisions/decision-view.ts";
import { proposalEnvelope } from "../../client/inputs/proposal.ts";
import { ruleOfDecision } from "../../client/journal/decision-facts.ts";
import { isDecision } from "../../client/journal/recent-calls.ts";
import { searchPartition } from "../../client/journal/search-journal.ts";
import { decide } from "../../core/decide/decide.ts";
import type { Notice } from "../../core/decision.ts";
import type { DecisionEvent, GateEvent } from "../../core/events.ts";
import type { ProposalInput } from "../../core/inputs.ts";
import type { CompiledPolicy } from "../../core/policy/compiled.ts";
import { sealProposal } from "../../core/seal/seal-arguments.ts";
import { MissingSecretError } from "../../core/seal/sealing.ts";
import { hasLapsed } from "../../core/state/deadline.ts";
import { evolve } from "../../core/state/evolve.ts";
import type { ConversationState } from "../../core/state/state.ts";
import type { JournalRecord } from "../../runtime/journal.ts";
import { conversationKey, partitionOf } from "../../runtime/partitioner.ts";
import { Problem } from "../http/problem.ts";
import type { ServedGate } from "../served-gate.ts";
import { locateRule, policyOf } from "./locate-rule.ts";

const RECORDS_MAX = 200_000;
const EVENTS_MAX = 20_000;

export type Simulation = {
  readonly decision: Decision;
  /** Whether the conversation had a state; false: it is decided as the first call of a new one. */
  readonly hasState: boolean;
  readonly tier: string | null;
  readonly tierRule: string | null;
  /** What would be refused if it were enforced. */
  readonly shadow: readonly Notice[];
  readonly rule: string | null;
  readonly location: string | null;
};

/** @throws CallgateError `invalid_input`; Problem 422 where the call cannot be decided here */
export async function simulateCall(
  served: ServedGate,
  call: ProposedCall,
  on: "present" | "empty",
): Promise<Simulation> {
  const policy = await policyOf(served);
  if (policy === null) throw noPolicy();
  const proposal = proposalOf(served, call);
  const past = on === "empty" ? NO_PAST : await readPast(served, proposal);
  const nowMs = Math.max(served.clock.nowMs(), past.atMs);
  const live = past.state === undefined || hasLapsed(past.state, nowMs) ? undefined : past.state;
  const { event, repeated } = decided(live, proposal, policy.compiled, nowMs);
  const rule = ruleOfDecision(event);
  const { location } = await locateRule(served, rule);
  const { tier, tierRule } = event.policy;
  const hide = () => undefined;
  return {
    decision: decisionOf(event, { repeated, keyOf: hide, argumentsOf: hide }),
    hasState: live !== undefined,
    ...{ tier, tierRule, shadow: event.notices.shadow, rule, location },
  };
}

/** The input as the gate would decode it. @throws CallgateError `invalid_input`; Problem 422 */
function proposalOf({ link }: ServedGate, call: ProposedCall): ProposalInput {
  const value = link.codec.encodeProposal(proposalEnvelope(call));
  const decoded = link.codec.decodeInput("proposals", value);
  if (decoded.ok && decoded.input.type === "proposal") return decoded.input;
  throw new Problem({
    status: 422,
    code: "dead_letter",
    detail: `the gate could not process the proposal: ${decoded.ok ? "" : decoded.message}`,
    remedy: "Correct the request",
  });
}

function decided(
  state: ConversationState | undefined,
  proposal: ProposalInput,
  policy: CompiledPolicy,
  nowMs: number,
): { readonly event: DecisionEvent; readonly repeated: boolean } {
  try {
    const [event] = decide(state, sealProposal(state, proposal, policy), policy, nowMs);
    if (event?.type === "repeated") return { event: event.decision, repeated: true };
    if (isDecision(event)) return { event, repeated: false };
  } catch (error) {
    if (error instanceof MissingSecretError) throw noSecret(error);
    throw error;
  }
  throw new Error("a proposal gave no decision");
}

type Past = { readonly state: ConversationState | undefined; readonly atMs: number };

const NO_PAST: Past = { state: undefined, atMs: 0 };

/** @throws CallgateError; Problem 422 where the journal has too much of the conversation */
async function readPast(served: ServedGate, proposal: ProposalInput): Promise<Past> {
  const { client, link } = served;
  const { tenantId, conversationId } = proposal;
  const key = conversationKey(tenantId, conversationId);
  const partition = partitionOf(key, link.log.partitions);
  /** The newest first. */
  const events: GateEvent[] = [];
  let records = 0;
  let atMs = 0;
  const find = ({ events: all, clocks }: JournalRecord): "beginning" | "limit" | undefined => {
    records += 1;
    atMs = Math.max(atMs, clocks.proposals);
    for (const event of [...all].reverse()) {
      if (event.tenantId !== tenantId || event.conversationId !== conversationId) continue;
      events.push(event);
      if (isDecision(event) && event.conversation.fresh) return "beginning";
    }
    return records >= RECORDS_MAX || events.length >= EVENTS_MAX ? "limit" : undefined;
  };
  const { match } = await client.timeFor(conversationId).search((isOver) => {
    const assertWanted = (): void => {
      if (isOver()) throw new Error("nobody waits for the search any more");
    };
    return searchPartition(link, { partition, offset: 0 }, { find, assertWanted });
  });
  if (match === "limit") throw outOfReach(conversationId);
  // Without its beginning the rest of a conversation that lapsed long ago means nothing.
  if (match !== "beginning") return { state: undefined, atMs };
  const state = events.reduceRight<ConversationState | undefined>(evolve, undefined);
  return { state, atMs };
}

function noPolicy(): Problem {
  return new Problem({
    status: 422,
    code: "no_policy",
    detail: "the gate decides in another process, and this server does not have its policy",
    remedy: "Name the gate's policy in `policy.files` of the server's configuration",
  });
}

function noSecret(error: Error): Problem {
  return new Problem({
    status: 422,
    code: "secret_missing",
    detail: `the tool has sensitive arguments: ${error.message}`,
    remedy: "Set `gate.secret` in the server's configuration",
  });
}

function outOfReach(conversationId: string): Problem {
  return new Problem({
    status: 422,
    code: "conversation_too_long",
    detail: `the beginning of \`${conversationId}\` is more than ${RECORDS_MAX} records of the journal, or ${EVENTS_MAX} events, away`,
    at: "body.conversationId",
    remedy: 'Decide on an empty state with `"state": "empty"`',
  });
}
