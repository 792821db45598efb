/**
 * What is decided of one input. Pure: no I/O, no clock, no randomness; the same state, input, policy
 * and time give the same events.
 *
 * D1 total: it never throws; a defect inside refuses the call with `internal_error`.
 * D2 one proposal gives exactly one event, and that is a decision or a `repeated` one.
 */
import type { GateEvent } from "../events.ts";
import type { GateInput, ProposalInput } from "../inputs.ts";
import type { CompiledPolicy } from "../policy/compiled.ts";
import { hasLapsed } from "../state/deadline.ts";
import type { ConversationState } from "../state/state.ts";
import { decideProposal } from "./decide-proposal.ts";
import { decideResult } from "./decide-result.ts";
import { decideTick } from "./decide-tick.ts";
import { decideVerdict } from "./decide-verdict.ts";
import { internalError } from "./refuse-unread.ts";

/** `nowMs`: append time of the input, monotone per input topic-partition. Tick: one conversation. */
export function decide(
  state: ConversationState | undefined,
  input: GateInput,
  policy: CompiledPolicy,
  nowMs: number,
): readonly GateEvent[] {
  try {
    return decideInput(state, input, policy, nowMs);
  } catch (error) {
    return input.type === "proposal" ? [safely(state, input, policy, nowMs, error)] : [];
  }
}

function decideInput(
  state: ConversationState | undefined,
  input: GateInput,
  policy: CompiledPolicy,
  nowMs: number,
): readonly GateEvent[] {
  switch (input.type) {
    case "proposal": {
      const live = state === undefined || hasLapsed(state, nowMs) ? undefined : state;
      return [decideProposal(live, input, policy, nowMs)];
    }
    case "result":
      return [decideResult(state, input, policy, nowMs)];
    case "verdict":
      return decideVerdict(state, input, policy, nowMs);
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
  return internalError(state === undefined || hasLapsed(state, nowMs), input, policy, nowMs, what);
}
