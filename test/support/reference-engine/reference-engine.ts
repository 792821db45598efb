// A second engine, slow and obvious, written from docs/engine.md alone. It stores the whole history
// of one conversation and scans it for every answer: no index, no bound, no eviction.

import type {
  FailureEffect,
  GateInput,
  ProposalInput,
  ResultInput,
  VerdictInput,
} from "../../../services/core/inputs.ts";
import type { CompiledPolicy, CompiledTool } from "../../../services/core/policy/compiled.ts";
import type { Answer } from "./answer.ts";
import { type Circumstances, decideCall, refuseEarly } from "./decide-call.ts";
import { rememberDenial } from "./denials.ts";
import { endInRow, settleDoubts, settleFailure } from "./doubts.ts";
import {
  type Asked,
  type Call,
  type History,
  heldMs,
  listRecentCalls,
  type NameEntry,
  newHistory,
} from "./history.ts";
import { loopKeyOf, refusedCycle } from "./loops.ts";
import { type Reading, readProposal } from "./read-proposal.ts";
import {
  digestOf,
  endOf,
  errorText,
  failureOf,
  isDefinite,
  isTransient,
  maskedOf,
} from "./read-result.ts";
import { giveBack, nameEffects } from "./result-effects.ts";
import { otherThan, type WrongGrant, wrongApproval, wrongGrant } from "./wrong-verdict.ts";

/** Proposals that no conversation learns of. */
const LEAVES_NOTHING = ["misrouted", "unauthenticated", "overloaded"];

export class ReferenceEngine {
  #history: History | null = null;
  readonly #decided: Answer[] = [];
  readonly #policy: CompiledPolicy;

  constructor(policy: CompiledPolicy) {
    this.#policy = policy;
  }

  /** The answers to one input: exactly one, except for ticks. */
  answer(input: GateInput, nowMs: number): Answer[] {
    const answers = this.#answers(input, nowMs);
    for (const answer of answers) {
      if (["allowed", "refused", "held"].includes(answer.outcome)) this.#note(input, answer);
    }
    return answers;
  }

  #findByName(name: string): NameEntry | undefined {
    return this.#history?.names.findLast((one) => one.name === name);
  }

  /** A name identifies its first call for as long as the conversation lasts. */
  #note(input: GateInput, answer: Answer): void {
    const history = this.#history;
    this.#decided.push(answer);
    const call = history?.calls.findLast((one) => one.decisionId === answer.decisionId);
    const proposal = input.type === "proposal" ? input : call?.input;
    if (history === null || proposal === undefined || answer.decisionId === null) return;
    const { asked } = readProposal(proposal, this.#policy);
    const name = nameOf(proposal, asked.argumentsDigest);
    const first = this.#findByName(name);
    if (first !== undefined && first.decisionId !== answer.decisionId) return;
    history.names.push({ name, decisionId: answer.decisionId });
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
    const old = this.#history;
    const lapsed = old === null || this.#hasLapsed(old, nowMs);
    const history = lapsed ? newHistory(nowMs) : old;
    const reading = readProposal(input, this.#policy);
    const { asked } = reading;
    if (!reading.ok && LEAVES_NOTHING.includes(reading.reason)) {
      return refusedEarly(asked, reading.reason, lapsed);
    }
    const early = (reason: string): Answer => {
      this.#history = history;
      history.lastAtMs = nowMs;
      return refusedEarly(asked, reason, lapsed);
    };
    if (lapsed) this.#history = null;
    const name = nameOf(input, asked.argumentsDigest);
    const nameEntry = this.#findByName(name);
    if (nameEntry?.decisionId === asked.decisionId) {
      return this.#repeat(nameEntry.decisionId);
    }
    if (nameEntry !== undefined) return early(reading.ok ? "call_id_conflict" : reading.reason);
    if (!reading.ok && input.rejected !== null) return early(reading.reason);
    const again =
      reading.ok && !lapsed ? this.#askedAgain(input, asked.argumentsDigest) : undefined;
    if (again !== undefined) return this.#repeat(again.decisionId);
    this.#history = history;
    enterTurn(history, input.turn, nowMs);
    history.lastAtMs = nowMs;
    const circumstances = { history, asked, policy: this.#policy, nowMs, fresh: lapsed };
    return judgeRead({ ...circumstances, approved: false }, reading, input);
  }

  #hasLapsed({ calls, startedAtMs, lastAtMs }: History, nowMs: number): boolean {
    const { maxAgeMs, idleMs } = this.#policy.conversation;
    if (calls.some((call) => call.kind === "held")) return false;
    return nowMs >= startedAtMs + maxAgeMs || nowMs >= lastAtMs + idleMs;
  }

  /**
   * A call that a person was asked about and that has not started, by its approval id or its call
   * id.
   */
  #askedAgain(input: ProposalInput, argumentsDigest: string): Call | undefined {
    const waiting = (this.#history?.calls ?? []).filter(
      (call) =>
        call.askedAs !== null &&
        call.argumentsDigest === argumentsDigest &&
        !call.started &&
        (call.kind === "held" || (call.kind === "allowed" && call.status === "in_flight")),
    );
    const byApproval = waiting.find(({ askedAs }) => askedAs === (input.approvalId ?? ""));
    const byId = waiting.filter((call) => call.input.callId === input.callId);
    return byApproval ?? byId.at(-1);
  }

  #repeat(decisionId: string): Answer {
    const decided = this.#decided.findLast((one) => one.decisionId === decisionId);
    return { outcome: `repeated ${decided?.outcome}`, decisionId };
  }

  /** Only a call of unknown outcome, or in doubt, can still be settled. */
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
    if (isAlreadyReported(call, input)) return ignored("already_reported");
    if (input.status === "started") {
      call.started = true;
      return recorded(call, "started", false, null);
    }
    const status = endOf(input, call.tool);
    const transient = status === "failed" && isTransient(input);
    const effect = status === "failed" ? effectOf(input, call.tool) : null;
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
    const recent = listRecentCalls(history, this.#policy.recentCallsMax);
    const others = recent.filter((other) => other !== call);
    const digest =
      input === null || input.output === null ? null : digestOf(input.output, call.tool);
    const isNew =
      status === "succeeded" &&
      (call.tool.isRead ? isNewOutput(digest, others) : isNewAction(call, others));
    call.status = status;
    call.transient = transient;
    const isCertain = ends && status === "not_executed" && (call.inDoubt || call.doubted);
    call.effect = isCertain ? "none" : effect;
    call.settled = history.length++;
    if (status === "succeeded" || effect === "possible") call.actedAt = call.settled;
    endInRow(history, call, status, call.settled);
    call.outputDigest = digest;
    call.maskedDigest = input === null ? null : maskedOf(input, call, status);
    call.isNew = isNews(call, recent);
    call.whole = isWhole(input, this.#policy.outputBytes);
    noteFailure(call, input, nowMs);
    if (status !== "not_executed" && input?.cost != null) call.cost = input.cost;
    giveBack(history, call);
    nameEffects(call, input);
    settleDoubts(history, call, ends);
    const member = refusedCycle(history)?.includes(loopKeyOf(call)) === true;
    if (isNew && !member) history.progress.push(history.length++);
    hearPerson(history, call);
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

  /**
   * Grants calls of one tier or tool, or revokes them; returns the reason where it does neither.
   */
  #give(
    history: History,
    input: VerdictInput,
    kind: string,
    nowMs: number,
  ): WrongGrant | "unknown_grant" | null {
    const { tier, tool, calls, untilMs } = input;
    const ofTool = tool !== null && tier === null && this.#policy.tool(tool).isDeclared;
    const compiledTier = tool === null && tier !== null ? this.#policy.findTier(tier) : null;
    const meant = ofTool ? this.#policy.tool(tool).tier : compiledTier;
    const key = tool === null ? `tier ${tier}` : `tool ${tool}`;
    if (meant === null && (kind === "grant" || !history.manualGrants.has(key)))
      return "unknown_grant";
    const wrong = kind === "grant" && meant !== null ? wrongGrant(meant, input, nowMs) : null;
    if (wrong !== null) return wrong;
    const order = history.length++;
    const said = { by: input.by, reasoned: input.reason !== null, order };
    const wasRevoked = history.manualGrants.get(key)?.revoked ?? false;
    const manualGrant = { calls, untilMs, revoked: wasRevoked, ...said };
    const revoked = { calls: 0, untilMs: null, revoked: true, ...said };
    history.manualGrants.set(key, kind === "grant" ? manualGrant : revoked);
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
    if (input.kind === "deny") rememberDenial(history, call, call.hold);
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
      // A call that came again after its name was forgotten has the same id: reports are about the
      // later one.
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
  /** Whether the report is about all attempts of the execution. */
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

/** Without a step the arguments tell calls of one id apart. */
function nameOf({ turn, step, callId }: ProposalInput, argumentsDigest: string): string {
  return JSON.stringify([turn, step, callId, step === null ? argumentsDigest : null]);
}

/** The first reason before the checks that is enforced decides; the others are noted. */
function judgeRead(
  circumstances: Omit<Circumstances, "confirmed" | "earlier">,
  reading: Reading,
  input: ProposalInput,
): Answer {
  const reasons = reading.ok ? reading.reasons : [reading.reason];
  const { modes } = circumstances.asked.tool;
  const fatal = reasons.find((reason) => !reading.ok || modes[reason] === "enforce");
  if (fatal !== undefined) {
    const earlier = reasons.slice(0, reasons.indexOf(fatal));
    return refuseEarly({ ...circumstances, confirmed: false, earlier }, fatal);
  }
  const confirmed = spend(circumstances.history, input.confirmation);
  return decideCall({ ...circumstances, confirmed, earlier: reasons });
}

/** The first call that carries a confirmation uses it up. */
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

function isAlreadyReported(call: Call, input: ResultInput): boolean {
  if (call.inDoubt && !isDefinite(input)) return true;
  if (input.status === "started") return call.started || call.status === "unknown";
  return input.status === "unknown" && call.status === "unknown";
}

/** The answer of a person is new input. */
function hearPerson(history: History, { status, tool }: Call): void {
  if (status !== "succeeded" || !tool.asksUser) return;
  history.answeredAt = history.length++;
  history.progress.push(history.answeredAt);
}

function isWhole(input: ResultInput | null, most: number): boolean {
  if (input === null || input.output === null) return false;
  return (input.outputBytes ?? input.output.length) <= most;
}

function noteFailure(call: Call, input: ResultInput | null, nowMs: number): void {
  const failed = call.status === "failed";
  call.error = failed && input !== null ? errorText(input) : null;
  if (failed) call.failure = failureOf(input, nowMs);
}

/** Effect of a call that failed. */
function effectOf({ status, effect }: ResultInput, tool: CompiledTool): FailureEffect {
  const said = status === "failed" ? (effect ?? null) : null;
  return said ?? (tool.isRead ? "none" : "possible");
}

/** Whether no other recent call had its outcome. */
function isNews(call: Call, recent: readonly Call[]): boolean {
  const { maskedDigest } = call;
  if (maskedDigest === null) return false;
  return recent.every((other) => other === call || other.maskedDigest !== maskedDigest);
}

function isNewOutput(digest: string | null, others: readonly Call[]): boolean {
  if (digest === null) return false;
  return others.every((other) => other.status === "failed" || other.outputDigest !== digest);
}

function isNewAction({ actionKey }: Call, others: readonly Call[]): boolean {
  return others.every((other) => other.actionKey !== actionKey);
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
