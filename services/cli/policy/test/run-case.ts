/**
 * Runs one case through the engine: every call is proposed, and the result that the case states is
 * reported for each call that may run.
 *
 * CASE-1 a case starts without any state and leaves none.
 * CASE-2 the results of one step come after all its calls were proposed.
 */

import type {
  CaseCall,
  CaseResult,
  CaseVerdict,
  PolicyCase,
} from "../../../adapters/policy/read-cases.ts";
import { verdictFrom } from "../../../client/inputs/ruling.ts";
import type { JsonObject } from "../../../core/canonical/json-value.ts";
import { readBudgets } from "../../../core/decide/count-budgets.ts";
import { decide } from "../../../core/decide/decide.ts";
import type { DecisionEvent, GateEvent } from "../../../core/events.ts";
import { failureForm } from "../../../core/failure-forms.ts";
import type { GateInput, ProposalInput, VerdictInput } from "../../../core/inputs.ts";
import type { CompiledPolicy } from "../../../core/policy/compiled.ts";
import type { Spending } from "../../../core/policy/conditions/spending.ts";
import { nextDeadlineMs } from "../../../core/state/deadline.ts";
import { evolve } from "../../../core/state/evolve.ts";
import type { ConversationState } from "../../../core/state/state.ts";

export type DecidedCaseCall = {
  readonly call: CaseCall;
  readonly decision: DecisionEvent;
  /** After the verdict; null if the case states none, or none was needed. */
  readonly final: DecisionEvent | null;
  /** What the conversation had spent, the call included. */
  readonly spending: Spending;
};

const TENANT = "test";
const CONVERSATION = "case";
const STEP_MS = 1_000;
/** Upper bound of due ticks between two calls, at least one for each call. */
const TICKS_MAX = 10_000;

export function runCase({ calls }: PolicyCase, policy: CompiledPolicy): readonly DecidedCaseCall[] {
  const run = new CaseRun(policy);
  return calls.map((call, index) => run.call(call, calls[index - 1], index));
}

class CaseRun {
  readonly #policy: CompiledPolicy;
  #state: ConversationState | undefined;
  #nowMs = 0;
  #turn: string | null = null;
  /** Calls of the current step. */
  #executedCalls: {
    readonly call: CaseCall;
    readonly callId: string;
    readonly decisionId: string;
  }[] = [];

  constructor(policy: CompiledPolicy) {
    this.#policy = policy;
  }

  call(call: CaseCall, before: CaseCall | undefined, index: number): DecidedCaseCall {
    const together = this.#isTogether(call, before);
    if (!together) this.#reportResults();
    this.#nowMs += call.afterMs ?? (together ? 0 : STEP_MS);
    this.#tick();
    this.#turn = call.turn ?? this.#turn;
    const proposal = proposalOf(call, this.#turn, index);
    const spending = this.#spending(proposal, call);
    const decision = decisionIn(this.#apply(proposal));
    const final =
      call.verdict === null || decision.type !== "held"
        ? null
        : finalOf(this.#apply(verdictOf(call.verdict, decision.holdId)));
    const last = final ?? decision;
    if (last.type === "allowed") {
      this.#executedCalls.push({ call, callId: proposal.callId, decisionId: last.decisionId });
    }
    return { call, decision, final, spending };
  }

  #isTogether(call: CaseCall, before: CaseCall | undefined): boolean {
    if (before === undefined || call.step === null || call.step !== before.step) return false;
    return call.turn === null || call.turn === this.#turn;
  }

  #apply(input: GateInput): readonly GateEvent[] {
    const events = decide(this.#state, input, this.#policy, this.#nowMs);
    for (const event of events) this.#state = evolve(this.#state, event);
    return events;
  }

  #spending(proposal: ProposalInput, { args }: CaseCall): Spending {
    const { spending } = readBudgets(this.#state, proposal, this.#policy, {
      args: () => args as JsonObject,
      nowMs: this.#nowMs,
      heldAs: null,
    });
    return spending;
  }

  #reportResults(): void {
    for (const executed of this.#executedCalls) {
      const result = resultOf(executed.call, executed.callId, executed.decisionId);
      if (result !== null) this.#apply(result);
    }
    this.#executedCalls = [];
  }

  /** Expires holds, and calls that never reported a result. */
  #tick(): void {
    for (let ticks = 0; ticks < TICKS_MAX; ticks += 1) {
      const deadline = this.#state === undefined ? undefined : nextDeadlineMs(this.#state);
      if (deadline === undefined || deadline > this.#nowMs) return;
      this.#apply({ type: "tick" });
    }
    throw new Error("the deadlines of a case do not end");
  }
}

function isDecision(event: GateEvent | undefined): event is DecisionEvent {
  return event?.type === "allowed" || event?.type === "refused" || event?.type === "held";
}

function decisionIn([event]: readonly GateEvent[]): DecisionEvent {
  if (isDecision(event)) return event;
  throw new Error(`a proposal gave \`${event?.type ?? "no event"}\` instead of a decision`);
}

/** Null: the verdict decided nothing (it lacks a reason, or further approvals). */
function finalOf(events: readonly GateEvent[]): DecisionEvent | null {
  return events.find(isDecision) ?? null;
}

function proposalOf(call: CaseCall, turn: string | null, index: number): ProposalInput {
  return {
    type: "proposal",
    tenantId: TENANT,
    conversationId: CONVERSATION,
    callId: String(index),
    agentId: call.agent,
    turn,
    step: call.step,
    tool: call.tool,
    arguments: JSON.stringify(call.args),
    assistantText: call.says,
    estimatedCost: call.cost,
    confirmation: call.confirmation,
    rejected: null,
  };
}

function verdictOf({ kind, by, reason }: CaseVerdict, approvalId: string): VerdictInput {
  const name = { tenantId: TENANT, conversationId: CONVERSATION };
  return verdictFrom({ kind, ...name, approvalId, by, reason });
}

/** A returned value may be a failure by its form, as in `guard`. */
function asGuardWould(result: CaseResult): CaseResult {
  const form = result.status === "succeeded" ? failureForm(result.output) : null;
  return form === null
    ? result
    : { status: "failed", message: form.message, code: null, effect: form.effect };
}

/** Null: no result has come. An output that the case does not state equals no other. */
function resultOf(call: CaseCall, callId: string, decisionId: string): GateInput | null {
  const result = asGuardWould(call.result);
  if (result.status === "none") return null;
  const output = result.status === "succeeded" ? result.output : null;
  const failed = result.status === "failed";
  const unwritten = result.status === "succeeded" && output === null;
  return {
    type: "result",
    tenantId: TENANT,
    conversationId: CONVERSATION,
    callId,
    decisionId,
    status: result.status,
    ...(result.status === "failed" && result.effect !== null ? { effect: result.effect } : {}),
    basis: "returned",
    output,
    outputDigest: unwritten ? `no output of call ${callId}` : null,
    outputBytes: null,
    error: failed ? { code: result.code, message: result.message, retryable: null } : null,
    durationMs: null,
    cost: call.cost,
  };
}
