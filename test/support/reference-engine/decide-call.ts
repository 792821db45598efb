// What surrounds the checks of the reference engine: modes, escalation, the execution.
import { approvalIdOf } from "../../../services/core/hash.ts";
import type { CompiledHold, CompiledPolicy } from "../../../services/core/policy/compiled.ts";
import { REASONS, type ReasonCode } from "../../../services/core/reasons/reasons.ts";
import type { Answer } from "./answer.ts";
import {
  type Finding,
  findings,
  findUsedManualGrant,
  type Question,
  stopFindings,
} from "./checks.ts";
import {
  type Asked,
  type Call,
  dependsOn,
  findPriorCall,
  type History,
  heldMs,
  lastProgress,
  writtenSince,
} from "./history.ts";
import { loopsOfAnswer } from "./loops.ts";

export interface Decided {
  readonly answer: Answer;
  /** The call whose hold this decision ends. */
  readonly call: Call | null;
}

export interface Circumstances {
  readonly history: History;
  readonly asked: Asked;
  readonly policy: CompiledPolicy;
  /** Time of the input itself, which deadlines count from. */
  readonly nowMs: number;
  readonly fresh: boolean;
  readonly confirmed: boolean;
  readonly approved: boolean;
  /** Reasons that were found before the checks. */
  readonly earlier: readonly ReasonCode[];
}

type Notices = { readonly warnings: readonly ReasonCode[]; readonly shadow: readonly ReasonCode[] };

/**
 * Refusals that use up budgets and climb the escalation levels by tool and reason, or by the denied
 * action.
 */
const COUNTED: readonly ReasonCode[] = [
  "malformed",
  "too_large",
  "unknown_tool",
  "invalid_arguments",
  "tier_denied",
  "approval_denied",
];

/**
 * A call whose text, tool or arguments are not acceptable: a stop of the conversation counts first.
 */
export function refuseEarly(circumstances: Circumstances, reason: ReasonCode): Answer {
  const { history, policy } = circumstances;
  const asked = { ...circumstances.asked, actionKey: circumstances.asked.argumentsDigest };
  const question = { history, asked, policy, atMs: history.lastAtMs };
  const open: Question = { ...question, meant: false, approved: false, held: false };
  const notices: Record<"warn" | "shadow", ReasonCode[]> = { warn: [], shadow: [] };
  const applies = (one: ReasonCode): boolean => {
    const mode = asked.tool.modes[one];
    if ((mode === "warn" || mode === "shadow") && !notices[mode].includes(one)) {
      notices[mode].push(one);
    }
    return mode === "enforce";
  };
  for (const one of circumstances.earlier) applies(one);
  const stop = stopFindings(open).find((one) => applies(one.reason));
  const finding = stop ?? { reason, answers: false, cycle: null, priorCall: null };
  return refuse({ ...circumstances, asked }, open, finding, notices.warn, notices.shadow);
}

export function decideCall(circumstances: Circumstances): Answer {
  const { history, policy } = circumstances;
  const asked = { ...circumstances.asked, resources: dependsOn(history, circumstances.asked) };
  const question: Question = {
    history,
    asked,
    policy,
    atMs: history.lastAtMs,
    meant: circumstances.confirmed || circumstances.approved,
    approved: circumstances.approved,
    held: circumstances.approved,
  };
  const early = circumstances.earlier.map(
    (reason): Finding => ({ reason, answers: false, cycle: null, priorCall: null }),
  );
  const warnings: ReasonCode[] = [];
  const shadow: ReasonCode[] = [];
  const applies = ({ reason, warns }: Finding): boolean => {
    const written = asked.tool.modes[reason];
    const mode = warns === true && written === "enforce" ? "warn" : written;
    const notices = mode === "warn" ? warnings : mode === "shadow" ? shadow : [];
    if (!notices.includes(reason)) notices.push(reason);
    return mode === "enforce";
  };
  for (const finding of [...early, ...findings(question)]) {
    if (!applies(finding)) continue;
    if (finding.reason === "approval_required") {
      return hold(circumstances, question, finding.terms ?? holdRule(asked), { warnings, shadow });
    }
    // An answer from memory is shown to the loop check first.
    const loop = finding.answers ? loopsOf(question).find(applies) : undefined;
    return refuse(circumstances, question, loop ?? finding, warnings, shadow);
  }
  return allow(circumstances, question, warnings, shadow);
}

function loopsOf({ history, asked, policy, atMs }: Question): Finding[] {
  return loopsOfAnswer(history, asked, policy, atMs).map(({ reason, cycle }) => ({
    reason,
    cycle,
    answers: false,
    priorCall: null,
    served: true,
  }));
}

function allow(
  circumstances: Circumstances,
  question: Question,
  warnings: readonly ReasonCode[],
  shadow: readonly ReasonCode[],
): Answer {
  const { asked, nowMs } = circumstances;
  const call = record(circumstances, question, "allowed");
  return {
    outcome: "allowed",
    decisionId: asked.decisionId,
    warnings,
    shadow,
    execution: { decisionId: call.execution.decisionId, attempt: call.execution.attempt },
    deadlineMs: nowMs + asked.tool.startWithinMs,
    fresh: circumstances.fresh,
  };
}

function hold(
  circumstances: Circumstances,
  question: Question,
  rule: CompiledHold,
  { warnings, shadow }: Notices,
): Answer {
  const { asked, history, nowMs } = circumstances;
  const before = history.calls.find(
    (call) => call.kind === "held" && call.decisionId === asked.decisionId,
  );
  const number = (before?.hold?.number ?? 0) + 1;
  const id = approvalIdOf(asked.decisionId, asked.tool.ruleDigest, number);
  const call = record(circumstances, question, "held");
  const expiresAtMs = nowMs + rule.expiresMs;
  history.holds.push({ atMs: nowMs, change: 1 });
  const { requireReason, approvals } = rule;
  call.hold = { id, number, expiresAtMs, requireReason, approvals, approvedBy: [] };
  call.heldAtMs = nowMs;
  call.askedAs = id;
  return {
    outcome: "held",
    decisionId: asked.decisionId,
    warnings,
    shadow,
    holdId: id,
    deadlineMs: expiresAtMs,
    fresh: circumstances.fresh,
  };
}

function holdRule(asked: Asked): CompiledHold {
  const { tier } = asked.tool;
  if (tier.action === "hitl") return tier.hold;
  if (tier.action === "grant" && tier.onExceeded !== null) return tier.onExceeded;
  throw new Error(`${asked.tool.name} is held by a tier that holds nothing`);
}

function refuse(
  circumstances: Circumstances,
  question: Question,
  finding: Finding,
  warnings: readonly ReasonCode[],
  shadow: readonly ReasonCode[],
): Answer {
  const { history, asked, policy } = circumstances;
  const { reason, answers } = finding;
  const key = loopOf(finding, asked);
  const counted = COUNTED.includes(reason) && !question.held;
  const strikes = isStrike(finding) || counted;
  const strike = strikes ? { key, step: asked.input.step } : null;
  const count = strike === null ? null : countWith(history, strike);
  const served = finding.served === true;
  const level = levelAt(policy, count, served ? 2 : 4);
  const { userInput, ended } = raisedAt(policy, asked, level);
  const asksNothing = reason === "acknowledgement_required" || served;
  const asks = level >= 2 && policy.acknowledgement !== "off" && !asksNothing;
  const cycle = reason === "loop_cycle" ? finding.cycle : null;
  if (answers && finding.priorCall !== null)
    record(circumstances, question, "answered", finding.priorCall);
  if (counted) record(circumstances, question, "refused");
  history.refusals.push({
    order: history.length++,
    turn: history.turns,
    reason,
    strike,
    userInput,
    readBy: asked.tool.isRead && isOfLoop(reason) ? asked.tool.name : null,
    ended,
    asksAbout: asks ? asked.actionKey : null,
    cycle,
  });
  return {
    outcome: "refused",
    decisionId: asked.decisionId,
    reason,
    warnings,
    shadow,
    answered: answers,
    count,
    level,
    raised: { userInput, ended },
    cycle: cycle === null ? null : [...cycle].sort(),
    fresh: circumstances.fresh,
  };
}

/** Whether the call was refused for repetition, or went on with it. */
function isOfLoop(reason: ReasonCode): boolean {
  return REASONS[reason].isStrike === true || reason === "user_input_required";
}

function isStrike({ reason, answers, asked }: Finding): boolean {
  return (REASONS[reason].isStrike === true && !answers) || typeof asked === "string";
}

/** The key of the strike: a cycle, all calls of a rotation or a drift, a tool, or the call itself. */
function loopOf({ reason, cycle, near, asked: about }: Finding, asked: Asked): string {
  if (typeof about === "string") return about;
  if (COUNTED.includes(reason) && reason !== "approval_denied")
    return `${reason} ${asked.tool.name}`;
  if (near !== undefined) return `near ${near}`;
  if (cycle !== null) return [...cycle].sort().join(" ");
  if (reason === "loop_rotation" || reason === "loop_drift") return reason;
  const ofTool = reason === "loop_no_progress" || reason === "failure_run";
  return ofTool ? `tool ${asked.tool.name}` : asked.actionKey;
}

/** Without turns nothing would lift a stop. */
function raisedAt({ ladder }: CompiledPolicy, { input }: Asked, level: number) {
  const stops = input.turn !== null;
  const ended = stops && level === 4 ? (ladder.end?.lasts ?? null) : null;
  return { userInput: stops && level === 3, ended };
}

function levelAt({ ladder }: CompiledPolicy, count: number | null, most: number): number {
  const thresholds = [ladder.ask, ladder.options, ladder.userInput, ladder.end?.at ?? null];
  const reached = thresholds.findLastIndex((at) => count !== null && at !== null && count >= at);
  return Math.min(reached + 1, most);
}

/** Strikes of the loop since the last progress, this one included; those of one step count once. */
function countWith(
  history: History,
  strike: { readonly key: string; readonly step: string | null },
): number {
  const progress = lastProgress(history);
  const earlier = history.refusals.filter(
    (refusal) =>
      refusal.strike?.key === strike.key &&
      refusal.order > progress &&
      refusal.turn === history.turns,
  );
  const steps = [...earlier.map((refusal) => refusal.strike?.step ?? null), strike.step];
  return steps.filter((step, at) => step === null || step !== steps[at - 1]).length;
}

function record(
  { history, asked, nowMs, approved, confirmed }: Circumstances,
  question: Question,
  kind: "allowed" | "held" | "answered" | "refused",
  answer: Call | null = null,
): Call {
  const priorCall = findPriorCall(history, asked) ?? null;
  const execution = findExecution(question, priorCall, approved || confirmed);
  const left = leaveHold(history, asked.decisionId, approved, nowMs);
  const order = history.length++;
  const start = { atMs: question.atMs, heldMs: heldMs(history, question.atMs) };
  const counted = { order, turn: history.turns, start };
  const { startWithinMs, timeLimitMs } = asked.tool;
  const call: Call = {
    ...asked,
    kind,
    order,
    atMs: question.atMs,
    turn: history.turns,
    counted: left?.counted ?? counted,
    status: kind === "answered" ? "succeeded" : kind === "held" ? "held" : "in_flight",
    settled: null,
    ...digestsOf(answer),
    isNew: false,
    whole: false,
    error: null,
    transient: false,
    effect: null,
    inDoubt: false,
    doubted:
      kind === "allowed" && execution.attempt > 1 && priorCall !== null && mayHaveActed(priorCall),
    actedAt: null,
    end: null,
    cost: costOf(asked, kind),
    failure: null,
    manualGrant: kind === "allowed" ? findUsedManualGrant(question) : null,
    execution,
    repeats: priorCall?.status === "succeeded" ? priorCall.repeats + 1 : 0,
    notAfterMs: nowMs + startWithinMs,
    giveUpAtMs: nowMs + startWithinMs + timeLimitMs,
    started: false,
    hold: null,
    heldAtMs: nowMs,
    askedAs: left?.hold?.id ?? null,
  };
  if (answer !== null) answer.repeats += 1;
  const manualGrant = history.manualGrants.get(call.manualGrant ?? "");
  if (manualGrant !== undefined && manualGrant.calls !== null) manualGrant.calls -= 1;
  history.calls.push(call);
  return call;
}

function digestsOf(answer: Call | null): Pick<Call, "outputDigest" | "maskedDigest"> {
  const { outputDigest, maskedDigest } = answer ?? { outputDigest: null, maskedDigest: null };
  return { outputDigest, maskedDigest };
}

function costOf({ input }: Asked, kind: Call["kind"]): Call["cost"] {
  return kind === "answered" || kind === "refused" ? null : input.estimatedCost;
}

/**
 * A hold that became an allowed call (or another hold) is one call, not two: returns the earlier
 * state. One whose call came as a new one, because its name was forgotten, has ended.
 */
function leaveHold(
  history: History,
  decisionId: string,
  approved: boolean,
  nowMs: number,
): Call | undefined {
  const left = history.calls.find((call) => call.decisionId === decisionId && call.kind === "held");
  if (left === undefined) return undefined;
  history.holds.push({ atMs: nowMs, change: -1 });
  if (approved) return history.calls.splice(history.calls.indexOf(left), 1)[0];
  left.kind = "hold ended";
  return undefined;
}

function findExecution(
  { history, asked, policy, atMs }: Question,
  priorCall: Call | null,
  meant: boolean,
): Call["execution"] {
  const fresh = { decisionId: asked.decisionId, openedAtMs: atMs, attempt: 1 };
  const { tool } = asked;
  if (priorCall === null || tool.isRead) return fresh;
  if (atMs >= priorCall.execution.openedAtMs + policy.idempotencyTtlMs) return fresh;
  const goesOn = { ...priorCall.execution, attempt: priorCall.execution.attempt + 1 };
  if (mayHaveActed(priorCall)) return goesOn;
  if (meant) return fresh;
  switch (priorCall.status) {
    case "not_executed":
      return priorCall.effect === "none" ? fresh : goesOn;
    case "succeeded": {
      const isMeant =
        tool.repeatable ||
        tool.namesNoObject ||
        atMs < priorCall.atMs + tool.windowMs ||
        writtenSince(history, asked, priorCall.order);
      return isMeant ? fresh : goesOn;
    }
    default:
      return fresh;
  }
}

/** Whether it is not certain that no attempt took effect. */
function mayHaveActed(priorCall: Call): boolean {
  if (priorCall.doubted || priorCall.status === "unknown") return true;
  return priorCall.status === "failed" && priorCall.effect === "possible";
}
