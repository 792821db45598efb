/** What stands between an agent and its tools in the loop: nothing, the gate, or another guard. */
import type { Decision } from "../../../services/client/api/gate-types.ts";
import type { Disposition } from "../../../services/core/refusal.ts";
import { type Callgate, openCallgate } from "../../../services/library/callgate.ts";
import { type Outcome, PERSON_MS, type ToolCall } from "./world.ts";

/** The structured members of a refusal. Guards that only write a text have none. */
export interface Advice {
  readonly disposition: Disposition;
  readonly retryAfterMs: number | null;
  /** The earlier output, where the refusal has it. */
  readonly previousOutput: unknown;
  readonly previousStatus: string | null;
  readonly suggestedNext: readonly string[];
  readonly approvalId: string | null;
  readonly decisionId: string | null;
}

export type Answer =
  | { readonly type: "run"; readonly id: string }
  | { readonly type: "answered"; readonly output: unknown }
  | { readonly type: "refused"; readonly advice: Advice | null; readonly endsTurn: boolean };

export interface Guard {
  propose(call: ToolCall, turn: number): Promise<Answer>;
  report(id: string, call: ToolCall, outcome: Outcome): Promise<void>;
  newTurn(): void;
  /** A person answers, and says how an unknown call ended. */
  askPerson(advice: Advice | null, tookEffect: boolean): Promise<void>;
  close(): Promise<void>;
}

export const GUARDS = ["none", "callgate", "OpenRouter doomLoop", "Hermes"] as const;

export type GuardName = (typeof GUARDS)[number];

export function openGuard(
  name: GuardName,
  policy: object,
  reads: ReadonlySet<string>,
): Promise<Guard> {
  switch (name) {
    case "none":
      return Promise.resolve(new NoGuard());
    case "callgate":
      return GateGuard.open(policy);
    case "OpenRouter doomLoop":
      return Promise.resolve(new DoomLoopGuard());
    case "Hermes":
      return Promise.resolve(new HermesGuard(reads));
  }
}

const RUN: Answer = { type: "run", id: "" };

class NoGuard implements Guard {
  propose(_call: ToolCall, _turn: number): Promise<Answer> {
    return Promise.resolve(RUN);
  }

  report(_id: string, _call: ToolCall, _outcome: Outcome): Promise<void> {
    return Promise.resolve();
  }

  newTurn(): void {
    // It remembers nothing.
  }

  askPerson(_advice: Advice | null, _tookEffect: boolean): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const CONVERSATION = "loop";
const SECRET = "evaluation-in-a-closed-loop-0123";

class GateGuard implements Guard {
  readonly #gate: Callgate;
  /** Approvals that a person gave, by the call. */
  readonly #approved = new Map<string, string>();
  #calls = 0;

  private constructor(gate: Callgate) {
    this.#gate = gate;
  }

  static async open(policy: object): Promise<GateGuard> {
    return new GateGuard(await openCallgate({ policy, dataDir: false, secret: SECRET }));
  }

  async propose({ tool, args }: ToolCall, turn: number): Promise<Answer> {
    this.#calls += 1;
    await this.#approveWaiting();
    const decision = await this.#gate.propose({
      conversationId: CONVERSATION,
      ...{ turn, step: this.#calls, callId: `call-${this.#calls}` },
      ...{ tool, arguments: args, approvalId: this.#approved.get(actionOf({ tool, args })) },
    });
    if (decision.outcome === "allowed") return { type: "run", id: decision.decisionId };
    const advice = adviceOf(decision);
    if (decision.outcome === "refused" && decision.answered) {
      return { type: "answered", output: advice.previousOutput };
    }
    return { type: "refused", advice, endsTurn: false };
  }

  async report(id: string, _call: ToolCall, outcome: Outcome): Promise<void> {
    if (outcome.status === "failed") {
      const { message, code } = outcome;
      await this.#gate.report(id, { status: "failed", error: { message, code } });
    } else await this.#gate.report(id, outcome);
  }

  newTurn(): void {
    // Each proposal says its turn.
  }

  async askPerson(advice: Advice | null, tookEffect: boolean): Promise<void> {
    if (advice?.previousStatus !== "unknown" || advice.decisionId === null) return;
    const outcome = tookEffect ? "succeeded" : "not_executed";
    await this.#gate.reconcile(advice.decisionId, { by: "ann", outcome });
  }

  /** People look at what waits, whatever the agent does meanwhile. */
  async #approveWaiting(): Promise<void> {
    const waiting = await this.#gate.pending({ conversationId: CONVERSATION });
    for (const { approvalId, heldAt, tool, arguments: args } of waiting) {
      if (Date.now() - heldAt < PERSON_MS) continue;
      const approved = await this.#gate.approve(approvalId, { by: "ann" });
      if (approved.outcome !== "allowed") throw new Error("the approval was not taken");
      this.#approved.set(actionOf({ tool, args }), approvalId);
    }
  }

  close(): Promise<void> {
    return this.#gate.close();
  }
}

function adviceOf(decision: Exclude<Decision, { readonly outcome: "allowed" }>): Advice {
  const { disposition, resolution, previousResult, previousCall, suggestedNext } = decision.refusal;
  const inline = previousResult?.inline ?? null;
  return {
    disposition,
    retryAfterMs: resolution.retryAfterMs,
    previousOutput: inline === null ? null : parseOutput(inline),
    previousStatus: previousCall?.status ?? null,
    suggestedNext,
    approvalId: resolution.approvalId,
    decisionId: previousCall?.decisionId ?? null,
  };
}

function parseOutput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function actionOf({ tool, args }: ToolCall): string {
  const sorted = Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${tool} ${JSON.stringify(sorted)}`;
}

/**
 * OpenRouter's agent with `doomLoop: true`: blocks the third round in which a tool is called with the
 * same arguments, and stops the run at the sixth. It compares arguments alone, over turns.
 */
class DoomLoopGuard extends NoGuard {
  readonly #streaks = new Map<string, { readonly action: string; readonly rounds: number }>();
  static readonly #blockAt = 3;
  static readonly #stopAt = 6;

  override propose(call: ToolCall): Promise<Answer> {
    const action = actionOf(call);
    const before = this.#streaks.get(call.tool);
    const rounds = before?.action === action ? before.rounds + 1 : 1;
    this.#streaks.set(call.tool, { action, rounds });
    if (rounds < DoomLoopGuard.#blockAt) return Promise.resolve(RUN);
    const endsTurn = rounds >= DoomLoopGuard.#stopAt;
    return Promise.resolve({ type: "refused", advice: null, endsTurn });
  }
}

/**
 * Hermes with hard stops and with the reads declared: a call that failed five times, and a read that
 * gave one output five times without a write, is blocked; eight failures of one tool halt it. Each of
 * these ends the turn, and a turn begins afresh.
 */
class HermesGuard extends NoGuard {
  readonly #reads: ReadonlySet<string>;
  readonly #failures = new Map<string, number>();
  readonly #toolFailures = new Map<string, number>();
  readonly #equal = new Map<string, { readonly output: string; readonly times: number }>();
  static readonly #stopAt = { failures: 5, toolFailures: 8, equal: 5 };

  constructor(reads: ReadonlySet<string>) {
    super();
    this.#reads = reads;
  }

  override propose(call: ToolCall): Promise<Answer> {
    const action = actionOf(call);
    const { failures, toolFailures, equal } = HermesGuard.#stopAt;
    const isLoop =
      (this.#failures.get(action) ?? 0) >= failures ||
      (this.#toolFailures.get(call.tool) ?? 0) >= toolFailures ||
      (this.#equal.get(action)?.times ?? 0) >= equal;
    return Promise.resolve(isLoop ? { type: "refused", advice: null, endsTurn: true } : RUN);
  }

  override report(_id: string, call: ToolCall, outcome: Outcome): Promise<void> {
    const action = actionOf(call);
    if (outcome.status === "succeeded") {
      this.#failures.delete(action);
      this.#toolFailures.delete(call.tool);
      this.#countOutput(call, action, JSON.stringify(outcome.output));
    } else {
      this.#failures.set(action, (this.#failures.get(action) ?? 0) + 1);
      this.#toolFailures.set(call.tool, (this.#toolFailures.get(call.tool) ?? 0) + 1);
    }
    return Promise.resolve();
  }

  #countOutput(call: ToolCall, action: string, output: string): void {
    if (!this.#reads.has(call.tool)) {
      this.#equal.clear();
      return;
    }
    const before = this.#equal.get(action);
    const times = before?.output === output ? before.times + 1 : 1;
    this.#equal.set(action, { output, times });
  }

  override newTurn(): void {
    this.#failures.clear();
    this.#toolFailures.clear();
    this.#equal.clear();
  }
}
