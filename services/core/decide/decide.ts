/**
 * What is decided of one input. Pure: no I/O, no clock, no randomness; the same state, input, policy
 * and time give the same events.
 *
 * DECIDE-1 total: a defect inside refuses the call with `internal_error`. One error comes out: the secret that a
 *    sensitive argument needs is not there, and nothing can be decided until it is.
 * DECIDE-2 one proposal gives exactly one decision or `repeated` event, the first; what it makes of claims follows.
 */
import type { ClaimsOfTenant } from "../checks/check.ts";
import type { GateEvent } from "../events.ts";
import type { GateInput, ProposalInput } from "../inputs.ts";
import type { CompiledPolicy } from "../policy/compiled.ts";
import { MissingSecretError } from "../seal/sealing.ts";
import { changeClaims, claimIdOf, type ReadClaim, readHolders } from "../state/claims.ts";
import { hasLapsed } from "../state/deadline.ts";
import type { ConversationState } from "../state/state.ts";
import { decideProposal } from "./decide-proposal.ts";
import { decideResult } from "./decide-result.ts";
import { decideTick } from "./decide-tick.ts";
import { decideVerdict } from "./decide-verdict.ts";
import { internalError } from "./refuse-plainly.ts";

/**
 * `nowMs`: append time of the input, monotone per input topic-partition. A tick is decided for one
 * conversation. `readClaim`: null where the other conversations are not known; then effects happen
 * once in this conversation, and no claim changes.
 */
export function decide(
  state: ConversationState | undefined,
  input: GateInput,
  policy: CompiledPolicy,
  nowMs: number,
  readClaim: ReadClaim | null = null,
): readonly GateEvent[] {
  try {
    if (readClaim === null || !mayClaim(state, input, policy)) {
      return decideInput(state, input, policy, nowMs, null);
    }
    const claims = claimsFor(input, policy, readClaim);
    const events = decideInput(state, input, policy, nowMs, claims);
    const changed = changeClaims(state, events, readClaim, policy.conversation.maxAgeMs);
    return changed.length === 0 ? events : [...events, ...changed];
  } catch (error) {
    if (error instanceof MissingSecretError) throw error;
    return input.type === "proposal" ? [safely(state, input, policy, nowMs, error)] : [];
  }
}

/** Whether the input may concern a claim: also one that an earlier policy made. */
function mayClaim(
  state: ConversationState | undefined,
  { type }: GateInput,
  { scopesToTenant }: CompiledPolicy,
): boolean {
  if (scopesToTenant) return true;
  if (state === undefined) return false;
  return state.openIndex.heldCount > 0 || (type !== "proposal" && state.effects.size > 0);
}

function claimsFor(
  input: GateInput,
  { scopesToTenant }: CompiledPolicy,
  readClaim: ReadClaim,
): ClaimsOfTenant | null {
  if (!scopesToTenant || input.type === "tick") return null;
  const { tenantId } = input;
  return (resource, proposalsAtMs) =>
    readHolders(readClaim(tenantId, claimIdOf(resource)), resource, proposalsAtMs);
}

function decideInput(
  state: ConversationState | undefined,
  input: GateInput,
  policy: CompiledPolicy,
  nowMs: number,
  claims: ClaimsOfTenant | null,
): readonly GateEvent[] {
  switch (input.type) {
    case "proposal": {
      const live = state === undefined || hasLapsed(state, nowMs) ? undefined : state;
      return [decideProposal(live, input, policy, nowMs, claims)];
    }
    case "result":
      return [decideResult(state, input, policy, nowMs)];
    case "verdict":
      return decideVerdict(state, input, policy, nowMs, claims);
    case "tick":
      return state === undefined ? [] : decideTick(state, policy, nowMs);
  }
}

function safely(
  state: ConversationState | undefined,
  input: ProposalInput,
  policy: CompiledPolicy,
  nowMs: number,
  error: unknown,
): GateEvent {
  const what = error instanceof Error ? error.message : "an unknown error";
  const fresh = state === undefined || hasLapsed(state, nowMs);
  if (!hides(policy, input.tool)) return internalError(fresh, input, policy, nowMs, what);
  // The code that failed may have had the clear values, and an error's text may quote them.
  const { clear: _clear, ...rest } = input;
  const unread = input.clear === undefined ? { ...rest, arguments: "" } : rest;
  return internalError(fresh, unread, policy, nowMs, "left out, since arguments are sensitive");
}

function hides(policy: CompiledPolicy, tool: string): boolean {
  if (!policy.hidesArguments) return false;
  try {
    return policy.tool(tool).sensitive.length > 0;
  } catch {
    return true;
  }
}
