// Plays one conversation against the core: a policy, inputs in order, and their decisions.
import { decide } from "../../services/core/decide/decide.ts";
import type {
  CallAllowed,
  CallHeld,
  CallRefused,
  DecisionEvent,
  GateEvent,
} from "../../services/core/events.ts";
import type {
  GateInput,
  ProposalInput,
  ResultInput,
  VerdictInput,
} from "../../services/core/inputs.ts";
import type { CompiledPolicy } from "../../services/core/policy/compiled.ts";
import type { PolicyDocument } from "../../services/core/policy/document.ts";
import type { ReasonCode } from "../../services/core/reasons/reasons.ts";
import type { Sealing } from "../../services/core/seal/sealing.ts";
import { evolve } from "../../services/core/state/evolve.ts";
import type { ConversationState } from "../../services/core/state/state.ts";
import { compiled } from "./core/compile.ts";

export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;

type Arguments = Readonly<Record<string, unknown>> | string;

export function startStory(document: PolicyDocument, sealing?: Sealing): Story {
  return new Story(compiled(document, undefined, sealing));
}

export class Story {
  state: ConversationState | undefined;
  readonly journal: GateEvent[] = [];
  #policy: CompiledPolicy;
  #nowMs = 10 * MINUTE;
  #turn: string | null = "1";
  #calls = 0;

  constructor(policy: CompiledPolicy) {
    this.#policy = policy;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  get policy(): CompiledPolicy {
    return this.#policy;
  }

  after(ms: number): this {
    this.#nowMs += ms;
    return this;
  }

  /** Begins a turn with the given name. */
  turn(name: string | null): this {
    this.#turn = name;
    return this;
  }

  /** Puts another revision of the policy into force. */
  under(document: PolicyDocument, sealing?: Sealing): this {
    this.#policy = compiled(document, "sha256:another", sealing);
    return this;
  }

  /** A proposal of a call id and a step of its own, unless `given` says otherwise. */
  proposal(
    tool: string,
    args: Arguments = {},
    overrides: Partial<ProposalInput> = {},
  ): ProposalInput {
    this.#calls += 1;
    return {
      type: "proposal",
      tenantId: "acme",
      conversationId: "c",
      callId: `call-${this.#calls}`,
      agentId: "agent",
      turn: this.#turn,
      step: `step-${this.#calls}`,
      tool,
      arguments: typeof args === "string" ? args : JSON.stringify(args),
      assistantText: null,
      estimatedCost: null,
      confirmation: null,
      rejected: null,
      ...overrides,
    };
  }

  when(input: GateInput): readonly GateEvent[] {
    const events = decide(this.state, input, this.#policy, this.#nowMs);
    for (const event of events) this.state = evolve(this.state, event);
    this.journal.push(...events);
    return events;
  }

  proposed(tool: string, args?: Arguments, overrides?: Partial<ProposalInput>): GateEvent {
    return only(this.when(this.proposal(tool, args, overrides)));
  }

  allowed(tool: string, args?: Arguments, overrides?: Partial<ProposalInput>): CallAllowed {
    return ofType(this.proposed(tool, args, overrides), "allowed");
  }

  held(tool: string, args?: Arguments, overrides?: Partial<ProposalInput>): CallHeld {
    return ofType(this.proposed(tool, args, overrides), "held");
  }

  refused(tool: string, args?: Arguments, overrides?: Partial<ProposalInput>): CallRefused {
    return ofType(this.proposed(tool, args, overrides), "refused");
  }

  /** Proposes a call that is refused, and returns only the reason. */
  reason(tool: string, args?: Arguments, overrides?: Partial<ProposalInput>): ReasonCode {
    return this.refused(tool, args, overrides).refusal.reason;
  }

  /** A call that is allowed and reported with an output. */
  done(tool: string, args: Arguments = {}, output: string | null = "fine"): CallAllowed {
    const call = this.allowed(tool, args);
    this.reported(call, { status: "succeeded", output });
    return call;
  }

  /** A call that is allowed and fails; a write may have taken effect. */
  failed(tool: string, args: Arguments = {}, code = "E1"): CallAllowed {
    const call = this.allowed(tool, args);
    this.reported(call, { status: "failed", error: { code, message: code, retryable: null } });
    return call;
  }

  reported(call: DecisionEvent, result: Partial<ResultInput>): GateEvent {
    const input: ResultInput = {
      type: "result",
      tenantId: call.tenantId,
      conversationId: call.conversationId,
      callId: call.call.callId,
      decisionId: call.decisionId,
      status: "succeeded",
      output: null,
      outputDigest: null,
      outputBytes: null,
      error: null,
      durationMs: null,
      cost: null,
      ...result,
    };
    return only(this.when(input));
  }

  approved(hold: CallHeld, overrides: Partial<VerdictInput> = {}): GateEvent {
    return this.#verdict({ kind: "approve", approvalId: hold.holdId, ...overrides });
  }

  denied(hold: CallHeld, overrides: Partial<VerdictInput> = {}): GateEvent {
    return this.#verdict({ kind: "deny", approvalId: hold.holdId, ...overrides });
  }

  reconciled(call: DecisionEvent, outcome: VerdictInput["outcome"]): GateEvent {
    return this.#verdict({ kind: "reconcile", decisionId: call.decisionId, outcome });
  }

  said(verdict: Partial<VerdictInput> & Pick<VerdictInput, "kind">): GateEvent {
    return this.#verdict(verdict);
  }

  ticked(): readonly GateEvent[] {
    return this.when({ type: "tick" });
  }

  /** A verdict on the hold, not yet applied. */
  verdict(kind: VerdictInput["kind"], { holdId: approvalId }: CallHeld): VerdictInput {
    return this.#input({ kind, approvalId });
  }

  #verdict(verdict: Partial<VerdictInput> & Pick<VerdictInput, "kind">): GateEvent {
    return only(this.when(this.#input(verdict)));
  }

  #input(verdict: Partial<VerdictInput> & Pick<VerdictInput, "kind">): VerdictInput {
    return {
      type: "verdict",
      tenantId: "acme",
      conversationId: "c",
      approvalId: null,
      decisionId: null,
      outcome: null,
      tier: null,
      tool: null,
      calls: null,
      untilMs: null,
      by: "boss",
      reason: null,
      ...verdict,
    };
  }
}

export function only(events: readonly GateEvent[]): GateEvent {
  const [event, ...others] = events;
  if (event === undefined || others.length > 0) {
    throw new Error(`one event was expected, not ${events.length}`);
  }
  return event;
}

export function ofType<T extends GateEvent["type"]>(
  event: GateEvent,
  type: T,
): Extract<GateEvent, { type: T }> {
  if (event.type === type) return event as Extract<GateEvent, { type: T }>;
  const why = event.type === "refused" ? ` for ${event.refusal.reason}` : "";
  throw new Error(`\`${type}\` was expected, it is \`${event.type}\`${why}`);
}
