// A second engine, slow and obvious, written from docs/engine.md alone. It keeps the whole history of
// one conversation and reads it through for every answer: no index, no bound, no eviction.

import type {
  FailureEffect,
  GateInput,
  ProposalInput,
  ResultInput,
  VerdictInput,
} from "../../../services/core/inputs.ts";
import type { CompiledPolicy } from "../../../services/core/policy/compiled.ts";
import type { Answer } from "./answer.ts";
import { decideCall } from "./decide-call.ts";
import { endInRow, settleDoubts, settleFailure } from "./doubts.ts";
import {
  type Asked,
  type Call,
  type History,
  heldMs,
  type Named,
  newHistory,
  ring,
} from "./history.ts";
import { refusedCycle } from "./loops.ts";
import { readProposal } from "./read-proposal.ts";
import { digestOf, endOf, errorText, failureOf, isDefinite, isTransient } from "./read-result.ts";
import { giveBack, nameEffects } from "./result-effects.ts";
import { otherThan, type WrongGrant, wrongApproval, wrongGrant } from "./wrong-verdict.ts";

const NAME_KEPT_MS = 3_600_000;

export class ReferenceEngine {
  #history: History | null = null;
  readonly #decided: Answer[] = [];
  readonly #policy: CompiledPolicy;

  constructor(policy: CompiledPolicy) {
    this.#policy = policy;
  }

  /** The answers to one input: one, but for ticks. */
  answer(input: GateInput, nowMs: number): Answer[] {
    const answers = this.#answers(input, nowMs);
    for (const answer of answers) {
      if (["allowed", "refused", "held"].includes(answer.outcome)) this.#note(input, answer, nowMs);
    }
    return answers;
  }

  #named(name: string, nowMs: number): Named | undefined {
    return this.#history?.named.findLast((one) => one.name === name && nowMs < one.dropAtMs);
  }

  /** A name stands for its first call; it is remembered an hour, and for as long as that call may. */
  #note(input: GateInput, answer: Answer, nowMs: number): void {
    const history = this.#history;
    this.#decided.push(answer);
    const call = history?.calls.findLast((one) => one.decisionId === answer.decisionId);
    const named = input.type === "proposal" ? input : call?.input;
    if (history === null || named === undefined || answer.decisionId === null) return;
    const name = nameOf(named);
    const first = this.#named(name, history.lastAtMs);
    if (first !== undefined && first.decisionId !== answer.decisionId) return;
    const keptMs = Math.max(nowMs, history.lastAtMs) + NAME_KEPT_MS;
    const dropAtMs = call === undefined ? keptMs : Math.max(keptMs, neededUntil(call, answer));
    history.named.push({ name, decisionId: answer.decisionId, dropAtMs });
  }

  #answers(input: GateInput, nowMs: number): Answer[] {
    switch (input.type) {
      case "proposal":
        return [this.#propose(input, nowMs)];
      case "result":
        return [this.#result(input, nowMs)];
      case "verdict":
        return this.#verdict(input, nowMs);
      case "tick":
        return this.#tick(nowMs);
    }
  }

  #propose(input: ProposalInput, nowMs: number): Answer {
    const { maxAgeMs, idleMs } = this.#policy.conversation;
    const old = this.#history;
    const lapsed =
      old === null ||
      (!old.calls.some((call) => call.kind === "held") &&
        (nowMs >= old.startedAtMs + maxAgeMs || nowMs >= old.lastAtMs + idleMs));
    const history = lapsed ? newHistory(nowMs) : old;
    const reading = readProposal(input, this.#policy);
    const { asked } = reading;
    const early = (reason: string): Answer => {
      this.#history = history;
      history.lastAtMs = nowMs;
      return refusedEarly(asked, reason, lapsed);
    };
    if (lapsed) this.#history = null;
    const name = nameOf(input);
    const named = this.#named(name, nowMs);
    if (named?.decisionId === asked.decisionId) {
      const decided = this.#decided.findLast((one) => one.decisionId === named.decisionId);
      return { outcome: `repeated ${decided?.outcome}`, decisionId: named.decisionId };
    }
    if (named !== undefined) return early(reading.ok ? "call_id_conflict" : reading.reason);
    if (!reading.ok) return early(reading.reason);
    enterTurn(history, input.turn, nowMs);
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

  /** Calls whose outcome is not known, or in doubt, are the only ones that anything is said about. */
  #findOpen(decisionId: string | null): Call | undefined {
    const open = ["in_flight", "unknown", "held"];
    return this.#history?.calls.findLast(
      (call) =>
        call.decisionId === decisionId &&
        (call.kind === "allowed" || call.kind === "held") &&
        (open.includes(call.status) || call.inDoubt),
    );
  }

  #result(input: ResultInput, nowMs: number): Answer {
    const call = this.#findOpen(input.decisionId);
    if (call === undefined || call.kind === "held") return ignored("unknown_call");
    if (call.input.callId !== input.callId) return ignored("wrong_call");
    if (call.inDoubt && !isDefinite(input)) return ignored("already_reported");
    if (input.status === "unknown" && call.status === "unknown") return ignored("already_reported");
    if (input.status === "started") {
      if (call.started || call.status === "unknown") return ignored("already_reported");
      call.started = true;
      return recorded(call, "started", false, null);
    }
    const status = endOf(input, call.tool);
    const transient = status === "failed" && isTransient(input);
    const said = input.status === "failed" ? (input.effect ?? null) : null;
    const effect = status === "failed" ? (said ?? (call.tool.isRead ? "none" : "possible")) : null;
    this.#settle(call, { status, transient, effect, ends: call.inDoubt }, input, nowMs);
    return recorded(call, status, transient, effect);
  }

  #settle(call: Call, end: End, input: ResultInput | null, nowMs: number): void {
    const history = this.#history;
    if (history === null) return;
    if (call.inDoubt && end.status === "failed") settleFailure(history, call, input);
    else this.#end(history, call, end, input, nowMs);
  }

  #end(
    history: History,
    call: Call,
    { status, transient, effect, ends }: End,
    input: ResultInput | null,
    nowMs: number,
  ): void {
    const recent = ring(history, this.#policy.ringSize);
    const others = recent.filter((other) => other !== call);
    const digest =
      input === null || input.output === null ? null : digestOf(input.output, call.tool);
    const newOutput =
      status === "succeeded" &&
      digest !== null &&
      others.every((other) => other.status === "failed" || other.outputDigest !== digest);
    const newWrite =
      status === "succeeded" &&
      !call.tool.isRead &&
      others.every((other) => other.actionKey !== call.actionKey);
    call.status = status;
    call.transient = transient;
    const certain = ends && status === "not_executed" && (call.inDoubt || call.doubted);
    call.effect = certain ? "none" : effect;
    call.settled = history.length++;
    if (status === "succeeded" || effect === "possible") call.actedAt = call.settled;
    endInRow(history, call, status, call.settled);
    call.outputDigest = digest;
    call.whole =
      input?.output != null &&
      (input.outputBytes ?? input.output.length) <= this.#policy.outputBytes;
    call.error = status === "failed" && input !== null ? errorText(input) : null;
    if (status !== "not_executed" && input?.cost != null) call.cost = input.cost;
    if (status === "failed") call.failure = failureOf(input, nowMs);
    giveBack(history, call);
    nameEffects(call, input);
    settleDoubts(history, call, ends);
    const member = refusedCycle(history)?.includes(call.actionKey) === true;
    const progress = call.tool.isRead ? newOutput : newWrite;
    if (progress && !member) history.progress.push(history.length++);
  }

  #verdict(input: VerdictInput, nowMs: number): Answer[] {
    switch (input.kind) {
      case "approve":
      case "deny":
      case "cancel":
        return this.#onHold(input, nowMs);
      case "reconcile":
        return [this.#reconcile(input, nowMs)];
      default:
        return [this.#rule(input, input.kind, nowMs)];
    }
  }

  #rule(input: VerdictInput, kind: string, nowMs: number): Answer {
    const history = this.#history;
    if (history === null) return ignored("unknown_conversation");
    if (kind === "end") history.endedAt = history.length++;
    else if (kind === "resume") {
      history.resumedAt = history.length++;
      history.progress.push(history.resumedAt);
    } else {
      const wrong = this.#give(history, input, kind, nowMs);
      if (wrong !== null) return ignored(wrong);
    }
    return { outcome: `ruled ${kind}`, decisionId: null };
  }

  /** Gives calls of one tier or tool, or takes them; why not, where it does neither. */
  #give(
    history: History,
    input: VerdictInput,
    kind: string,
    nowMs: number,
  ): WrongGrant | "unknown_grant" | null {
    const { tier, tool, calls, untilMs } = input;
    const ofTool = tool !== null && tier === null && this.#policy.tool(tool).known;
    const named = tool === null && tier !== null ? this.#policy.tierNamed(tier) : null;
    const meant = ofTool ? this.#policy.tool(tool).tier : named;
    const key = tool === null ? `tier ${tier}` : `tool ${tool}`;
    if (meant === null && (kind === "grant" || !history.given.has(key))) return "unknown_grant";
    const wrong = kind === "grant" && meant !== null ? wrongGrant(meant, input, nowMs) : null;
    if (wrong !== null) return wrong;
    const order = history.length++;
    const said = { by: input.by, reasoned: input.reason !== null, order };
    const wasRevoked = history.given.get(key)?.revoked ?? false;
    const given = { calls, untilMs, revoked: wasRevoked, ...said };
    const revoked = { calls: 0, untilMs: null, revoked: true, ...said };
    history.given.set(key, kind === "grant" ? given : revoked);
    return null;
  }

  #onHold(input: VerdictInput, nowMs: number): Answer[] {
    const history = this.#history;
    const call = history?.calls.find(
      (one) => one.kind === "held" && one.hold?.id === input.approvalId,
    );
    if (history === null || call === undefined || call.hold === null) {
      return [ignored("unknown_approval")];
    }
    const other = otherThan(call, input);
    if (other !== null) return [ignored(other)];
    if (input.kind !== "approve") return [this.#endHold(call, "approval_denied", nowMs)];
    const { approvals, approvedBy, expiresAtMs } = call.hold;
    if (nowMs >= expiresAtMs) return [this.#endHold(call, "approval_expired", nowMs)];
    const wrong = wrongApproval(call, call.hold, input);
    if (wrong !== null) return [ignored(wrong)];
    approvedBy.push(input.by);
    if (approvedBy.length < approvals) {
      return [{ outcome: "ruled approve", decisionId: call.decisionId }];
    }
    const answer = this.#judgeHeld(history, call, nowMs);
    if (answer.outcome !== "allowed" || input.tool === null) return [answer];
    return [answer, this.#rule({ ...input, tier: null }, "grant", nowMs)];
  }

  #judgeHeld(history: History, call: Call, nowMs: number): Answer {
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
    if (answer.outcome === "refused") {
      call.kind = "hold ended";
      history.holds.push({ atMs: nowMs, change: -1 });
    }
    return answer;
  }

  #endHold(call: Call, reason: string, nowMs: number): Answer {
    this.#history?.holds.push({ atMs: nowMs, change: -1 });
    call.kind = "hold ended";
    return refusedEarly(call, reason, false);
  }

  #reconcile(input: VerdictInput, nowMs: number): Answer {
    const call = this.#findOpen(input.decisionId);
    if (call === undefined || input.outcome === null) return ignored("unknown_call");
    if (call.status !== "unknown" && !call.inDoubt) return ignored("not_unknown");
    const effect = input.outcome === "failed" ? "none" : null;
    this.#settle(
      call,
      { status: input.outcome, transient: false, effect, ends: true },
      null,
      nowMs,
    );
    return { outcome: "reconciled", decisionId: call.decisionId, status: input.outcome };
  }

  #tick(nowMs: number): Answer[] {
    const answers: Answer[] = [];
    const calls = this.#history?.calls ?? [];
    for (const call of calls) {
      // A call that came again after its name was forgotten has the same id: what is told is of the later.
      const isLatest = calls.findLast((one) => one.decisionId === call.decisionId) === call;
      if (!isLatest) continue;
      if (call.kind === "held" && call.hold !== null && nowMs >= call.hold.expiresAtMs) {
        answers.push(this.#endHold(call, "approval_expired", nowMs));
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

interface End {
  readonly status: Call["status"];
  readonly transient: boolean;
  readonly effect: FailureEffect | null;
  /** It is said of all attempts of the occurrence. */
  readonly ends: boolean;
}

function enterTurn(history: History, turn: string | null, atMs: number): void {
  if (turn === null || turn === history.turn) return;
  const numbered = [turn, history.turn].every((name) => name !== null && /^\d+$/.test(name));
  if (numbered && Number(turn) < Number(history.turn)) return;
  history.turn = turn;
  history.turns += 1;
  history.turnStart = { atMs, heldMs: heldMs(history, atMs) };
  history.progress.push(history.length++);
}

function nameOf({ turn, step, callId }: ProposalInput): string {
  return JSON.stringify([turn, step, callId]);
}

function neededUntil(call: Call, { outcome }: Answer): number {
  if (outcome === "held") return (call.hold?.expiresAtMs ?? 0) + NAME_KEPT_MS;
  if (outcome === "refused") return 0;
  const windowMs = call.tool.isRead ? 0 : call.tool.windowMs;
  return Math.max(call.giveUpAtMs, call.atMs + windowMs);
}

/** A confirmation is spent by the first call that carries it. */
function spend(history: History, confirmation: string | null): boolean {
  if (confirmation === null || history.confirmations.includes(confirmation)) return false;
  history.confirmations.push(confirmation);
  return true;
}

function ignored(why: string): Answer {
  return { outcome: "ignored", decisionId: null, reason: why };
}

function recorded(
  call: Call,
  status: string,
  transient: boolean,
  effect: FailureEffect | null,
): Answer {
  return { outcome: "result_recorded", decisionId: call.decisionId, status, transient, effect };
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
