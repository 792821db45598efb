/**
 * Runs one case through the engine: every call is proposed, and the result that the case states is
 * reported for each call that may run.
 *
 * CASE-1 a case starts without any state and leaves none.
 * CASE-2 the results of one step come after all its calls were proposed.
 */

import type { CaseReconciliation, CaseVerdict } from "../../../adapters/policy/case-answers.ts";
import type { CaseCall, CaseResult, PolicyCase } from "../../../adapters/policy/read-cases.ts";
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
import { reasonOf } from "../../output/reason-of.ts";

export type DecidedCaseCall = {
  readonly call: CaseCall;
  readonly decision: DecisionEvent;
  /** After the verdict; null if the case states none, or none was needed. */
  readonly final: DecisionEvent | null;
  /** What came of each verdict, and of each reconciliation. */
  readonly answers: readonly string[];
  readonly reconciled: readonly string[];
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
  /** The decision on each call so far. */
  readonly #decisionIds: string[] = [];
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
    const reconciled = call.reconciled.map((one) => this.#reconcile(one));
    this.#turn = call.turn ?? this.#turn;
    const proposal = proposalOf(call, this.#turn, index);
    const spending = this.#spending(proposal, call);
    const decision = decisionIn(this.#apply(proposal));
    this.#decisionIds.push(decision.decisionId);
    const { final, answers } = this.#answer(call.verdicts, decision);
    const last = final ?? decision;
    if (last.type === "allowed") {
      this.#executedCalls.push({ call, callId: proposal.callId, decisionId: last.decisionId });
    }
    return { call, decision, final, answers, reconciled, spending };
  }

  /** Gives the answers to a held call, one after the other. */
  #answer(
    verdicts: readonly CaseVerdict[],
    decision: DecisionEvent,
  ): Pick<DecidedCaseCall, "final" | "answers"> {
    if (decision.type !== "held") return { final: null, answers: [] };
    let final: DecisionEvent | null = null;
    const answers = verdicts.map((verdict) => {
      this.#nowMs += verdict.afterMs;
      const held = final?.type === "held" ? final : decision;
      const passed = this.#tick();
      const said =
        verdict.kind === "wait" ? [] : this.#apply(verdictOf(verdict.kind, verdict, held.holdId));
      const events = [...passed, ...said];
      final =
        events.filter(isDecision).find(({ decisionId }) => decisionId === held.decisionId) ?? final;
      return outcomeOf(verdict.kind === "wait" ? passed : said);
    });
    return { final, answers };
  }

  #reconcile({ call, outcome, by, reason }: CaseReconciliation): string {
    const decisionId = this.#decisionIds[call - 1] ?? "";
    const name = { tenantId: TENANT, conversationId: CONVERSATION };
    const said = { kind: "reconcile", ...name, decisionId, outcome, by, reason } as const;
    return outcomeOf(this.#apply(verdictFrom(said)));
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
  #tick(): readonly GateEvent[] {
    const events: GateEvent[] = [];
    for (let ticks = 0; ticks < TICKS_MAX; ticks += 1) {
      const deadline = this.#state === undefined ? undefined : nextDeadlineMs(this.#state);
      if (deadline === undefined || deadline > this.#nowMs) return events;
      events.push(...this.#apply({ type: "tick" }));
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

/** What came of an answer, in a word: `waits`, an outcome, a reason code, or why it was ignored. */
function outcomeOf(events: readonly GateEvent[]): string {
  const decision = events.find(isDecision);
  if (decision !== undefined) return decision.type === "allowed" ? "allowed" : reasonOf(decision);
  const ignored = events.find(({ type }) => type === "ignored");
  if (ignored?.type === "ignored") return ignored.why;
  return events.some(({ type }) => type === "reconciled") ? "reconciled" : "waits";
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

function verdictOf(
  kind: "approve" | "deny",
  { by, reason }: CaseVerdict,
  approvalId: string,
): VerdictInput {
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
