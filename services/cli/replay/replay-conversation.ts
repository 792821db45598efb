/**
 * Runs one recorded conversation through the engine: every call is proposed, and the recorded
 * result is reported for each allowed call. A recording cannot react to a refusal, so what would
 * stop a conversation is only reported, unless `applyStops` is set.
 *
 * REPLAY-1 a conversation starts without any state and leaves none.
 * REPLAY-2 the results of one step come after all its calls were proposed.
 */
import { verdictFrom } from "../../client/inputs/ruling.ts";
import { decide } from "../../core/decide/decide.ts";
import type { CallRefused, DecisionEvent, GateEvent } from "../../core/events.ts";
import type { GateInput, ProposalInput } from "../../core/inputs.ts";
import { compilePolicy } from "../../core/policy/compile-policy.ts";
import type { CompiledPolicy } from "../../core/policy/compiled.ts";
import { nextDeadlineMs } from "../../core/state/deadline.ts";
import { evolve } from "../../core/state/evolve.ts";
import type { ConversationState } from "../../core/state/state.ts";
import { capabilities } from "../../gate/capabilities.ts";
import type { GatePolicy } from "../../gate/gate-policy.ts";
import {
  gateTimes,
  issuedTogether,
  type RecordedCall,
  type RecordedConversation,
} from "./recording.ts";

export interface ReplayPolicy {
  readonly enforced: CompiledPolicy;
  /**
   * The same policy with `mode: shadow`: adds a call to the state that ran although it was refused.
   */
  readonly shadowed: CompiledPolicy;
}

export interface ReplayOptions {
  /** Also reports the recorded output of a refused call: it did run, whatever the gate decides. */
  readonly feedRefused: boolean;
  /** Applies escalation levels that stop a conversation. */
  readonly applyStops: boolean;
  /** Held calls proceed as if approved. */
  readonly heldAllow: boolean;
}

export interface ReplayedCall {
  readonly call: RecordedCall;
  readonly index: number;
  readonly decision: DecisionEvent;
  /** This refusal stops the conversation. */
  readonly stop: boolean;
}

const TENANT = "replay";
const CONVERSATION = "conversation";

export function replayConversation(
  { calls }: RecordedConversation,
  policy: ReplayPolicy,
  options: ReplayOptions,
): readonly ReplayedCall[] {
  const run = new ConversationRun(policy, options);
  const times = gateTimes(calls);
  return calls.map((call, index) => run.propose(call, calls[index - 1], index, times[index] ?? 0));
}

/** The state of one conversation during its replay. */
export class ConversationRun {
  readonly #policy: ReplayPolicy;
  readonly #options: ReplayOptions;
  #state: ConversationState | undefined;
  #nowMs = 0;
  /** Calls of the current step that ran. */
  #executedCalls: {
    readonly call: RecordedCall;
    readonly index: number;
    readonly decisionId: string;
  }[] = [];

  constructor(policy: ReplayPolicy, options: ReplayOptions) {
    this.#policy = policy;
    this.#options = options;
  }

  /** `before`: the call before this one, which shows whether a new step begins. */
  propose(
    call: RecordedCall,
    before: RecordedCall | undefined,
    index: number,
    atMs: number,
  ): ReplayedCall {
    this.stateBefore(call, before, atMs);
    const proposal = proposalOf(call, index);
    const decision = decisionIn(this.#decide(proposal, this.#policy.enforced));
    const stop = decision.type === "refused" && stops(decision);
    this.#apply(decision, proposal);
    if (this.#runs(decision))
      this.#executedCalls.push({ call, index, decisionId: decision.decisionId });
    return { call, index, decision, stop };
  }

  /** The gate's state when the call arrives: it includes the results of the step before. */
  stateBefore(
    call: RecordedCall,
    before: RecordedCall | undefined,
    atMs: number,
  ): ConversationState | undefined {
    if (!issuedTogether(before, call)) this.#reportResults();
    this.#nowMs = atMs;
    this.#tick();
    return this.#state;
  }

  #reportResults(): void {
    for (const { call, index, decisionId } of this.#executedCalls) {
      this.#evolve(this.#decide(resultOf(call, index, decisionId), this.#policy.enforced));
    }
    this.#executedCalls = [];
  }

  #decide(input: GateInput, policy: CompiledPolicy): readonly GateEvent[] {
    return decide(this.#state, input, policy, this.#nowMs);
  }

  #evolve(events: readonly GateEvent[]): void {
    for (const event of events) this.#state = evolve(this.#state, event);
  }

  /** Expires held calls as time passes; all others have their result by now. */
  #tick(): void {
    if (this.#state === undefined || this.#state.open.size === 0) return;
    const deadline = nextDeadlineMs(this.#state);
    if (deadline === undefined || deadline > this.#nowMs) return;
    this.#evolve(this.#decide({ type: "tick" }, this.#policy.enforced));
  }

  #apply(decision: DecisionEvent, proposal: ProposalInput): void {
    switch (decision.type) {
      case "allowed":
        this.#evolve([decision]);
        break;
      case "held":
        this.#evolve([decision]);
        if (this.#options.heldAllow) this.#approve(decision.holdId);
        break;
      case "refused":
        this.#applyRefused(decision, proposal);
        break;
    }
  }

  #applyRefused(refused: CallRefused, proposal: ProposalInput): void {
    const applied = this.#options.applyStops ? refused : { ...refused, raised: null };
    if (!this.#options.feedRefused) {
      this.#evolve([applied]);
      return;
    }
    // The call ran anyway, so it is decided once more with nothing enforced, and that decision
    // enters the state.
    const shadowEvents = this.#decide(proposal, this.#policy.shadowed);
    this.#evolve([{ ...applied, answered: null }]);
    if (shadowEvents[0]?.type === "allowed") this.#evolve(shadowEvents);
  }

  #approve(approvalId: string): void {
    const verdict = verdictFrom({
      kind: "approve",
      tenantId: TENANT,
      conversationId: CONVERSATION,
      approvalId,
      by: "replay",
      reason: "replayed as if approved",
    });
    this.#evolve(this.#decide(verdict, this.#policy.enforced));
  }

  /** Whether the engine counts the call as running, so that it gets its recorded output. */
  #runs({ type }: DecisionEvent): boolean {
    switch (type) {
      case "allowed":
        return true;
      case "held":
        return this.#options.heldAllow;
      case "refused":
        return this.#options.feedRefused;
    }
  }
}

function decisionIn(events: readonly GateEvent[]): DecisionEvent {
  const [event] = events;
  if (event?.type === "allowed" || event?.type === "refused" || event?.type === "held") {
    return event;
  }
  throw new Error(`a proposal gave \`${event?.type ?? "no event"}\` instead of a decision`);
}

function stops({ raised, refusal }: CallRefused): boolean {
  if (refusal.reason === "acknowledgement_required") return true;
  return raised !== null && (raised.userInput || raised.ended !== null);
}

export function proposalOf(call: RecordedCall, index: number): ProposalInput {
  return {
    type: "proposal",
    tenantId: TENANT,
    conversationId: CONVERSATION,
    callId: String(index),
    agentId: null,
    turn: call.turn,
    step: call.step,
    tool: call.tool,
    arguments: call.argumentsText,
    assistantText: null,
    estimatedCost: null,
    confirmation: null,
    rejected: null,
  };
}

/** A call without an output gets a digest that equals no other. */
function resultOf(call: RecordedCall, index: number, decisionId: string): GateInput {
  const unknownDigest = call.output === null ? `no output of call ${index}` : null;
  return {
    type: "result",
    tenantId: TENANT,
    conversationId: CONVERSATION,
    callId: String(index),
    decisionId,
    status: call.isError ? "failed" : "succeeded",
    // A recording has no status, so its text determines the status.
    basis: "text",
    output: call.output,
    outputDigest: call.outputHash ?? unknownDigest,
    outputBytes: null,
    error: null,
    durationMs: null,
    cost: null,
  };
}

export function replayPolicy({ document, compiled }: GatePolicy): ReplayPolicy {
  const shadow = { ...document, mode: "shadow" } as const;
  const { revision, keyId, sealing } = compiled;
  const shadowed = compilePolicy(shadow, capabilities, { revision, keyId, sealing });
  // It compiled with `mode` as written, and no value of `mode` can cause a problem.
  if (!shadowed.ok) throw new Error("the policy does not compile in `mode: shadow`");
  return { enforced: compiled, shadowed: shadowed.policy };
}
