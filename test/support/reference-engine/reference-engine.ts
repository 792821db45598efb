// A second engine, slow and obvious, written from docs/engine.md alone. It keeps the whole history of
// one conversation and reads it through for every answer: no index, no bound, no eviction.

import { canonicalText } from "../../../services/core/canonical/canonical-text.ts";
import { parseCanonical } from "../../../services/core/canonical/parse-canonical.ts";
import { sha256Hex } from "../../../services/core/hash.ts";
import type {
  GateInput,
  ProposalInput,
  ResultInput,
  VerdictInput,
} from "../../../services/core/inputs.ts";
import type { CompiledPolicy, CompiledTool } from "../../../services/core/policy/compiled.ts";
import { looksTransient } from "../../../services/core/policy/failure-text.ts";
import type { Answer } from "./answer.ts";
import { decideCall } from "./decide-call.ts";
import { type Asked, type Call, type History, newHistory, ring } from "./history.ts";
import { readProposal } from "./read-proposal.ts";

const NAME_KEPT_MS = 3_600_000;

export class ReferenceEngine {
  #history: History | null = null;
  readonly #policy: CompiledPolicy;

  constructor(policy: CompiledPolicy) {
    this.#policy = policy;
  }

  /** The answers to one input: one, but for ticks. */
  answer(input: GateInput, nowMs: number): Answer[] {
    switch (input.type) {
      case "proposal":
        return [this.#propose(input, nowMs)];
      case "result":
        return [this.#result(input, nowMs)];
      case "verdict":
        return [this.#verdict(input, nowMs)];
      case "tick":
        return this.#tick(nowMs);
    }
  }

  #propose(input: ProposalInput, nowMs: number): Answer {
    const { maxAgeMs, idleMs } = this.#policy.conversation;
    const old = this.#history;
    const lapsed =
      old === null || nowMs >= old.startedAtMs + maxAgeMs || nowMs >= old.lastAtMs + idleMs;
    const history = lapsed ? newHistory(nowMs) : old;
    const reading = readProposal(input, this.#policy);
    const { asked } = reading;
    const early = (reason: string): Answer => {
      this.#history = history;
      history.lastAtMs = nowMs;
      return refusedEarly(asked, reason, lapsed);
    };
    if (!reading.ok) return early(reading.reason);
    const name = JSON.stringify([input.turn, input.step, input.callId]);
    const named = history.named.findLast((one) => one.name === name && nowMs < one.dropAtMs);
    if (named !== undefined) {
      if (named.argumentsDigest !== asked.argumentsDigest) return early("call_id_conflict");
      return { outcome: "repeated", decisionId: named.decisionId };
    }
    const keptMs = Math.max(NAME_KEPT_MS, asked.tool.isRead ? 0 : asked.tool.windowMs);
    history.named.push({
      name,
      argumentsDigest: asked.argumentsDigest,
      decisionId: asked.decisionId,
      dropAtMs: nowMs + keptMs,
    });
    const fatal = reading.found.find((reason) => asked.tool.modes[reason] === "enforce");
    if (fatal !== undefined) {
      const noted = (mode: string) =>
        reading.found
          .slice(0, reading.found.indexOf(fatal))
          .filter((reason) => asked.tool.modes[reason] === mode);
      return { ...early(fatal), warnings: noted("warn"), shadow: noted("shadow") };
    }
    this.#history = history;
    history.lastAtMs = nowMs;
    enterTurn(history, input.turn);
    return decideCall({
      history,
      asked,
      policy: this.#policy,
      nowMs,
      fresh: lapsed,
      confirmed: spend(history, input.confirmation),
      approved: false,
      earlier: reading.found,
    });
  }

  #find(decisionId: string | null): Call | undefined {
    return this.#history?.calls.findLast(
      (call) => call.kind === "allowed" && call.decisionId === decisionId,
    );
  }

  #result(input: ResultInput, nowMs: number): Answer {
    const call = this.#find(input.decisionId);
    if (this.#history === null || call === undefined) return ignored("unknown_call");
    if (call.input.callId !== input.callId) return ignored("wrong_call");
    if (call.status !== "in_flight" && call.status !== "unknown") {
      return ignored("already_reported");
    }
    if (input.status === "started") {
      if (call.started || call.status === "unknown") return ignored("already_reported");
      call.started = true;
      call.giveUpAtMs = nowMs + call.tool.timeLimitMs;
      return recorded(call, "started", false);
    }
    const hidden =
      input.status === "succeeded" && input.output !== null && call.tool.looksFailed(input.output);
    const status = hidden ? "failed" : input.status;
    const transient = status === "failed" && isTransient(input);
    this.#settle(call, status, transient, input);
    return recorded(call, status, transient);
  }

  #settle(call: Call, status: Call["status"], transient: boolean, input: ResultInput | null): void {
    const history = this.#history;
    if (history === null) return;
    const recent = ring(history, this.#policy.ringSize);
    const others = recent.filter((other) => other !== call);
    const digest =
      input === null || input.output === null ? null : digestOf(input.output, call.tool);
    const newOutput =
      status === "succeeded" &&
      digest !== null &&
      others.every((other) => other.outputDigest !== digest);
    const newWrite =
      status === "succeeded" &&
      !call.tool.isRead &&
      others.every((other) => other.actionKey !== call.actionKey);
    call.status = status;
    call.transient = transient;
    call.settled = history.length++;
    call.outputDigest = digest;
    call.whole =
      input?.output != null &&
      (input.outputBytes ?? input.output.length) <= this.#policy.outputBytes;
    call.error = status === "failed" && input !== null ? errorText(input) : null;
    const member = history.refusals.some(
      (refusal) =>
        refusal.turn === history.turns && refusal.cycle?.includes(call.actionKey) === true,
    );
    if ((newOutput || newWrite) && !member) history.progress.push(history.length++);
  }

  #verdict(input: VerdictInput, nowMs: number): Answer {
    switch (input.kind) {
      case "approve":
      case "deny":
        return this.#onHold(input, nowMs);
      case "reconcile":
        return this.#reconcile(input);
      default:
        return ignored("not_supported");
    }
  }

  #onHold(input: VerdictInput, nowMs: number): Answer {
    const history = this.#history;
    const call = history?.calls.find((one) => one.hold?.id === input.approvalId);
    if (history === null || call === undefined || call.hold === null) {
      return ignored("unknown_approval");
    }
    if (call.kind !== "held") return ignored("already_decided");
    if (nowMs >= call.hold.expiresAtMs) return this.#endHold(call, "approval_expired");
    if (input.kind === "deny") return this.#endHold(call, "approval_denied");
    if (call.input.agentId !== null && input.by === call.input.agentId) {
      return ignored("self_approval");
    }
    if (call.hold.requireReason && input.reason === null) return ignored("reason_required");
    const answer = decideCall({
      history,
      asked: call,
      policy: this.#policy,
      nowMs,
      fresh: false,
      confirmed: false,
      approved: true,
      earlier: [],
    });
    if (answer.outcome === "refused") call.kind = "hold ended";
    return answer;
  }

  #endHold(call: Call, reason: string): Answer {
    call.kind = "hold ended";
    return refusedEarly(call, reason, false);
  }

  #reconcile(input: VerdictInput): Answer {
    const call = this.#find(input.decisionId);
    if (call === undefined || input.outcome === null) return ignored("unknown_call");
    if (call.status !== "unknown") return ignored("not_unknown");
    this.#settle(call, input.outcome, false, null);
    return { outcome: "reconciled", decisionId: call.decisionId, status: input.outcome };
  }

  #tick(nowMs: number): Answer[] {
    const answers: Answer[] = [];
    for (const call of this.#history?.calls ?? []) {
      if (call.kind === "held" && call.hold !== null && nowMs >= call.hold.expiresAtMs) {
        answers.push(this.#endHold(call, "approval_expired"));
      } else if (
        call.kind === "allowed" &&
        call.status === "in_flight" &&
        nowMs >= call.giveUpAtMs
      ) {
        call.status = "unknown";
        call.settled = (this.#history as History).length++;
        answers.push({ outcome: "outcome_unknown", decisionId: call.decisionId });
      }
    }
    return answers;
  }
}

function enterTurn(history: History, turn: string | null): void {
  const first = history.calls.length === 0 && history.refusals.length === 0;
  if (first && history.turn === null) history.turn = turn;
  if (turn === null || turn === history.turn) return;
  const numbered = [turn, history.turn].every((name) => name !== null && /^\d+$/.test(name));
  if (numbered && Number(turn) < Number(history.turn)) return;
  history.turn = turn;
  history.turns += 1;
  history.progress.push(history.length++);
}

/** A confirmation is spent by the first call that carries it. */
function spend(history: History, confirmation: string | null): boolean {
  if (confirmation === null || history.confirmations.includes(confirmation)) return false;
  history.confirmations.push(confirmation);
  return true;
}

/** What came back, without the members that are declared to differ each time. */
function digestOf(output: string, tool: CompiledTool): string {
  const parsed = tool.volatileOutput.length === 0 ? null : parseCanonical(output);
  if (parsed?.ok !== true) return sha256Hex("output", output);
  const copy = structuredClone(parsed.value);
  for (const path of tool.volatileOutput) drop(copy, path);
  return sha256Hex("output", canonicalText(copy));
}

function drop(value: unknown, [key, ...rest]: readonly string[]): void {
  if (typeof value !== "object" || value === null || key === undefined) return;
  const members = value as Record<string, unknown>;
  if (rest.length === 0) delete members[key];
  else drop(members[key], rest);
}

function isTransient(input: ResultInput): boolean {
  if (input.error === null) return looksTransient(null, input.output ?? "");
  if (input.error.retryable !== null) return input.error.retryable;
  return looksTransient(input.error.code, input.error.message);
}

function errorText(input: ResultInput): string {
  const { error, output } = input;
  return error === null ? `text ${output}` : JSON.stringify([error.code, error.message]);
}

function ignored(why: string): Answer {
  return { outcome: "ignored", decisionId: null, reason: why };
}

function recorded(call: Call, status: string, transient: boolean): Answer {
  return { outcome: "result_recorded", decisionId: call.decisionId, status, transient };
}

function refusedEarly(asked: Asked, reason: string, fresh: boolean): Answer {
  return {
    outcome: "refused",
    decisionId: asked.decisionId,
    reason,
    warnings: [],
    shadow: [],
    answered: false,
    count: null,
    level: 0,
    raised: { userInput: false, ended: null },
    cycle: null,
    fresh,
  };
}
