// The other checks of the reference engine, in the order of docs/engine.md.
import type { Retries } from "../../../services/core/checks/retry.ts";
import type { Money } from "../../../services/core/inputs.ts";
import type {
  BudgetLimit,
  CompiledHold,
  CompiledPolicy,
  CompiledTier,
} from "../../../services/core/policy/compiled.ts";
import { looksTransient } from "../../../services/core/policy/failure-text.ts";
import type { ReasonCode } from "../../../services/core/reasons/reasons.ts";
import { conflictFindings } from "./conflicts.ts";
import {
  type Asked,
  allowedPriorCalls,
  type Call,
  changedSince,
  type Denied,
  findPriorCall,
  type History,
  heldMs,
  heldPriorCall,
  isOne,
  isSinceInput,
  lastProgress,
  parallel,
  type Start,
  sameStep,
  writtenSince,
} from "./history.ts";
import { loopFindings, loopKeyOf, pauseMs, refusedCycle } from "./loops.ts";
import { nearFindings } from "./near-findings.ts";

/**
 * A call as the checks see it, with its confirmation or approval, and the hold that does not count.
 */
export interface Question {
  readonly history: History;
  readonly asked: Asked;
  readonly policy: CompiledPolicy;
  readonly atMs: number;
  /** Whether a user's confirmation or an approval covers it. */
  readonly meant: boolean;
  readonly approved: boolean;
  /** Whether it was held until now: then its step is counted already. */
  readonly held: boolean;
}

export interface Finding {
  readonly reason: ReasonCode;
  /** Whether the earlier result answers the call. */
  readonly answers: boolean;
  readonly cycle: readonly string[] | null;
  readonly priorCall: Call | null;
  /** The key of the strike of texts that are almost equal. */
  readonly near?: string;
  /** Whether it only warns. */
  readonly warns?: boolean;
  /** Whether memory could answer the call: then it stops nothing else. */
  readonly served?: boolean;
  /** The action that the model had to respond to and did not. */
  readonly asked?: string | null;
  /** The terms of the hold, where its tier has none. */
  readonly terms?: CompiledHold;
}

function plain(reason: ReasonCode): Finding {
  return { reason, answers: false, cycle: null, priorCall: null };
}

/** Findings that stop the conversation, whatever the call is. */
export function stopFindings(question: Question): Finding[] {
  return [
    ...conversationFindings(question).map((reason) => ({
      ...plain(reason),
      asked: reason === "user_input_required" ? loopOfCall(question) : null,
    })),
    ...wordFindings(question).map((asked) => ({ ...plain("acknowledgement_required"), asked })),
    ...budgetFindings(question).map(plain),
  ];
}

export function findings(question: Question): Finding[] {
  const duplicate = duplicateFinding(question);
  const { history, asked, policy, atMs } = question;
  const loops = loopFindings(history, asked, policy, atMs, question.meant).map((loop) => ({
    ...plain(loop.reason),
    cycle: loop.cycle,
    warns: loop.warns === true,
  }));
  return [
    ...stopFindings(question),
    ...(duplicate === null ? [] : [duplicate]),
    ...nearFindings(question).map((near) => ({ ...plain("near_duplicate"), near })),
    ...conflictFindings(question).map((warns) => ({ ...plain("side_effect_conflict"), warns })),
    ...loops,
    ...(repeatsWithoutWord(question) ? [plain("acknowledgement_required")] : []),
    ...deniedFindings(question),
    ...tierFindings(question).map(plain),
    ...deniedForms(question),
  ];
}

/** Denials of this turn that have not expired, unless a person asked for the call itself since. */
function listActiveDenials({ history, atMs, meant, held }: Question): readonly Denied[] {
  if (meant || held) return [];
  return history.denials.filter(({ turn, untilMs }) => turn === history.turns && atMs < untilMs);
}

function deniedFindings(question: Question): Finding[] {
  const same = listActiveDenials(question).some(
    ({ call }) => call.actionKey === question.asked.actionKey,
  );
  return same ? [plain("approval_denied")] : [];
}

/** A write of the same tool to resources that a denied call would have touched. */
function deniedForms(question: Question): Finding[] {
  const { asked } = question;
  if (asked.tool.isRead || asked.touched === null) return [];
  const like = listActiveDenials(question).findLast(
    ({ call }) =>
      call.tool.name === asked.tool.name &&
      call.touched !== null &&
      call.touched.some((resource) => asked.shows(resource)),
  );
  return like === undefined ? [] : [{ ...plain("approval_required"), terms: like.terms }];
}

function conversationFindings({ history, asked }: Question): ReasonCode[] {
  const activeRefusals = history.refusals.filter((refusal) => refusal.order > history.resumedAt);
  const inTurn = activeRefusals.filter((refusal) => refusal.turn === history.turns);
  const ended =
    history.endedAt > history.resumedAt ||
    inTurn.some((refusal) => refusal.ended === "turn") ||
    activeRefusals.some((refusal) => refusal.ended === "conversation");
  if (ended) return ["conversation_ended"];
  const stops = inTurn.filter(({ userInput, order }) => userInput && order > history.answeredAt);
  const [by = null, ...others] = new Set(stops.map(({ readBy }) => readBy));
  const isStopped = by === null || others.length > 0 || by === asked.tool.name;
  return stops.length > 0 && isStopped && !asked.tool.asksUser ? ["user_input_required"] : [];
}

/** The loop that a call goes on with although the agent was stopped. */
function loopOfCall({ history, asked }: Question): string | null {
  const cycle = refusedCycle(history);
  const ofCycle = cycle?.includes(loopKeyOf(asked)) === true ? [[...cycle].sort().join(" ")] : [];
  const keys = [
    asked.actionKey,
    ...ofCycle,
    `tool ${asked.tool.name}`,
    "loop_drift",
    "loop_rotation",
  ];
  const progress = lastProgress(history);
  const struck = history.refusals.filter(
    ({ order, turn }) => order > progress && turn === history.turns,
  );
  return keys.find((key) => struck.some(({ strike }) => strike?.key === key)) ?? null;
}

/** The action that the model must respond to before it goes on. */
function askedAbout(history: History): string | null {
  const progress = lastProgress(history);
  const latest = history.refusals.findLast(
    ({ asksAbout, order, turn }) =>
      asksAbout !== null && order > progress && turn === history.turns,
  );
  if (latest === undefined) return null;
  const gone = history.calls.some(
    (call) =>
      (call.kind === "allowed" || call.kind === "held" || call.kind === "hold ended") &&
      call.order > latest.order &&
      call.actionKey !== latest.asksAbout,
  );
  return gone ? null : latest.asksAbout;
}

/**
 * One entry where the acknowledgement is missing: the action if the model said something else, null
 * if it said nothing.
 */
function wordFindings({ history, asked, policy, held }: Question): (string | null)[] {
  const about = askedAbout(history);
  if (policy.acknowledgement !== "explicit" || held) return [];
  if (about === null || about === asked.actionKey) return [];
  const text = asked.input.assistantText ?? "";
  if (text === "") return [null];
  return policy.acknowledges(text) ? [] : ["acknowledgement"];
}

function repeatsWithoutWord({ history, asked, policy, held, meant }: Question): boolean {
  if (policy.acknowledgement !== "explicit" || held || meant) return false;
  return askedAbout(history) === asked.actionKey;
}

function budgetFindings(question: Question): ReasonCode[] {
  const { history, asked, policy } = question;
  const all = history.calls.filter((call) => call.kind !== "answered");
  const inTurn = (call: Call): boolean => call.turn === history.turns;
  const ofTool = (call: Call): boolean => call.tool.name === asked.tool.name;
  const { turn, conversation, tool } = policy.budgets;
  return [
    ...over(question, turn, all, inTurn, history.turnStart),
    ...over(question, conversation, all, () => true, { atMs: history.startedAtMs, heldMs: 0 }),
    ...over(question, tool, all.filter(ofTool), inTurn, toolStart(question, all.filter(ofTool))),
  ];
}

/** The tool's first call of the turn, whatever its outcome; this one where there is none. */
function toolStart({ history, atMs }: Question, ofTool: readonly Call[]): Start {
  const first = ofTool
    .filter((call) => call.counted.turn === history.turns)
    .sort((a, b) => a.counted.order - b.counted.order)[0];
  return first?.counted.start ?? { atMs, heldMs: heldMs(history, atMs) };
}

/** Calls and steps are counted in the turn in which they began, or became allowed. */
function over(
  { history, asked, held, atMs }: Question,
  limit: BudgetLimit,
  calls: readonly Call[],
  within: (call: Call) => boolean,
  start: Start,
): ReasonCode[] {
  const reasons: ReasonCode[] = [];
  const reserved = calls.filter(
    (call) =>
      within(call) &&
      call.kind !== "hold ended" &&
      call.status !== "not_executed" &&
      !(held && call.kind === "held" && call.decisionId === asked.decisionId),
  );
  const stepped = calls
    .filter((call) => within({ ...call, turn: call.counted.turn }))
    .sort((a, b) => a.counted.order - b.counted.order);
  const inTurn = stepped.filter((call) => call.counted.turn === history.turns);
  const opens = !held && opensStep(asked.input.step, inTurn.at(-1)) ? 1 : 0;
  const steps = stepped.filter((call, at) =>
    opensStep(call.input.step, before(stepped, at)),
  ).length;
  if (limit.maxSteps !== null && steps + opens > limit.maxSteps) reasons.push("budget_steps");
  if (limit.maxCalls !== null && reserved.length >= limit.maxCalls) reasons.push("budget_calls");
  const elapsedMs = atMs - start.atMs - (heldMs(history, atMs) - start.heldMs);
  if (limit.maxMs !== null && elapsedMs >= limit.maxMs) reasons.push("budget_seconds");
  if (limit.maxSpend !== null && isTooDear(asked.input.estimatedCost, limit.maxSpend, reserved)) {
    reasons.push("budget_spend");
  }
  return reasons;
}

function isTooDear(cost: Money | null, limit: Money, calls: readonly Call[]): boolean {
  const costs = [...calls.map((call) => call.cost), cost].filter((one) => one !== null);
  if (costs.some((one) => one.currency !== limit.currency && one.microUnits > 0)) return true;
  if (cost !== null && cost.currency !== limit.currency) return true;
  const total = costs.reduce((sum, { microUnits }) => sum + BigInt(microUnits), 0n);
  return cost === null ? total >= BigInt(limit.microUnits) : total > BigInt(limit.microUnits);
}

/** The previous call in the same turn. */
function before(calls: readonly Call[], at: number): Call | undefined {
  const earlier = calls[at - 1];
  return earlier?.counted.turn === calls[at]?.counted.turn ? earlier : undefined;
}

/** A call without a step is a step of its own; a step that returns after another counts again. */
function opensStep(step: string | null, earlier: Call | undefined): boolean {
  return step === null || step !== (earlier?.input.step ?? null);
}

function duplicateFinding(question: Question): Finding | null {
  const { history, asked } = question;
  const { tool } = asked;
  const held = heldPriorCall(history, asked);
  const takesEquals = (one: Call): boolean =>
    parallel(asked, one) || (tool.namesNoObject && !tool.isRead);
  if (held !== undefined && !takesEquals(held)) return duplicate("duplicate_in_flight", held);
  const priorCall = rememberedPriorCall(question);
  if (priorCall === undefined || (tool.polling !== null && tool.isRead)) return null;
  if (priorCall.status === "in_flight") {
    return takesEquals(priorCall) ? null : duplicate("duplicate_in_flight", priorCall);
  }
  if (question.meant) return null;
  if (priorCall.status === "unknown" && !tool.isRead && !tool.repeatable) {
    return duplicate("outcome_unknown", priorCall);
  }
  if (priorCall.status === "failed") return retryOf(question, priorCall);
  return priorCall.status === "succeeded" ? repeatOf(question, priorCall) : null;
}

/** A call that failed, where the policy says how often it may be retried. */
function retryOf({ history, asked, atMs, policy }: Question, priorCall: Call): Finding | null {
  const retries = asked.tool.settings["duplicate"] as Retries | null;
  if (retries === null || priorCall.failure === null || !isSinceInput(history, priorCall))
    return null;
  if (writtenSince(history, { ...asked, resources: null }, priorCall.order)) return null;
  const failures = failuresInARow(history, asked);
  if (!mayRetry(retries, priorCall)) {
    const isOver = atMs >= priorCall.failure.atMs + pauseMs(policy, failures - 1);
    return isOver ? null : duplicate("retry_exhausted", priorCall);
  }
  if (failures >= retries.maxAttempts) return duplicate("retry_exhausted", priorCall);
  const { min, max } = retries.backoffMs ?? { min: 0, max: 0 };
  let waitMs = min;
  for (let n = 1; n < failures; n += 1) waitMs *= 2;
  const endsAtMs = priorCall.failure.atMs + Math.min(waitMs, max);
  return atMs < endsAtMs ? duplicate("retry_too_soon", priorCall) : null;
}

function mayRetry(retries: Retries, { failure }: Call): boolean {
  if (failure === null) return false;
  if (failure.retryable !== null) return failure.retryable;
  if (failure.code !== null && retries.retryableStatus.has(failure.code)) return true;
  return failure.texts.some((text) => looksTransient(null, text));
}

/** A report after the next attempt has begun does not count. */
function failuresInARow(history: History, asked: Asked): number {
  const all = allowedPriorCalls(history, asked);
  const inTime = all.filter(
    (call, at) =>
      call.turn === history.turns &&
      call.end !== null &&
      call.end.order < (all[at + 1]?.order ?? Infinity),
  );
  const ended = inTime.filter(({ end }) => end?.status === "failed" || end?.status === "succeeded");
  const latestFirst = ended.reverse();
  const success = latestFirst.findIndex(({ end }) => end?.status === "succeeded");
  return success < 0 ? latestFirst.length : success;
}

function duplicate(reason: ReasonCode, priorCall: Call, answers = false): Finding {
  return { reason, answers, cycle: null, priorCall };
}

/** A read is forgotten when a conversation of its age would be. */
function rememberedPriorCall({ history, asked, policy, atMs }: Question): Call | undefined {
  const priorCall = findPriorCall(history, asked);
  if (priorCall === undefined || !asked.tool.isRead) return priorCall;
  return atMs < priorCall.atMs + policy.conversation.idleMs ? priorCall : undefined;
}

/** A repeat of a call that succeeded. */
function repeatOf({ history, asked, policy, atMs }: Question, priorCall: Call): Finding | null {
  const { tool } = asked;
  if (changedSince(history, asked, priorCall.order)) return null;
  const makeFinding = (answers: boolean): Finding =>
    duplicate("duplicate_call", priorCall, answers);
  if ((tool.isRead || tool.answersAsRead) && atMs < priorCall.atMs + tool.cacheMs) {
    if (priorCall.repeats + 1 < policy.answersFromRepeat) return null;
    const isOld = priorCall.order < history.answeredAt;
    if (priorCall.whole && !tool.volatile && !isOld) return makeFinding(true);
  }
  const exempt = tool.repeatable || tool.namesNoObject || parallel(asked, priorCall);
  const isOver = atMs >= priorCall.atMs + tool.windowMs && !sameStep(asked, priorCall);
  if (tool.isRead || exempt || isOver) return null;
  return makeFinding(false);
}

function tierFindings(question: Question): ReasonCode[] {
  const { history, asked, atMs, approved } = question;
  const { tier } = asked.tool;
  if (tier.action === "deny") return ["tier_denied"];
  const isFree = approved || findManualGrant(question) !== null;
  if (tier.action === "hitl") return isFree ? [] : ["approval_required"];
  if (tier.action === "allowlist" && tier.rate !== null) {
    const { windowMs, count } = tier.rate;
    const used = usedOf(history, tier).filter((call) => call.atMs > atMs - windowMs);
    return used.length >= count ? ["rate_limited"] : [];
  }
  if (tier.action !== "grant" || policyGrants(question, tier)) return [];
  if (findManualGrant(question) !== null) return [];
  if (tier.onExceeded === null) return ["grant_exceeded"];
  return approved ? [] : ["approval_required"];
}

type GrantTier = Extract<CompiledTier, { action: "grant" }>;

function policyGrants({ history, asked, atMs }: Question, tier: GrantTier): boolean {
  if (tier.grantedBy === "verdict" || history.manualGrants.get(`tier ${tier.name}`)?.revoked)
    return false;
  if (history.manualGrants.get(`tool ${asked.tool.name}`)?.revoked) return false;
  if (tier.ttlMs !== null && atMs >= history.startedAtMs + tier.ttlMs) return false;
  return usedOf(history, tier).filter((call) => call.manualGrant === null).length < tier.ceiling;
}

/** The terms on which calls of the tier are held without a grant. */
export function termsOf(tier: CompiledTier) {
  if (tier.action === "hitl") return tier.hold;
  if (tier.action !== "grant" || tier.grantedBy === "verdict") return null;
  return tier.onExceeded;
}

/**
 * The manual grant that the call would use, if one has calls left and one person may grant them.
 */
function findManualGrant({ history, asked, atMs }: Question): string | null {
  const terms = termsOf(asked.tool.tier);
  if (terms !== null && terms.approvals > 1) return null;
  const ofTool = `tool ${asked.tool.name}`;
  const isTaken = history.manualGrants.get(ofTool)?.revoked === true;
  const keys = isTaken ? [ofTool] : [ofTool, `tier ${asked.tool.tier.name}`];
  const usableKey = keys.find((key) => {
    const manualGrant = history.manualGrants.get(key);
    if (manualGrant === undefined || manualGrant.calls === 0 || isOwn(manualGrant.by, asked.input))
      return false;
    if (terms?.requireReason && !manualGrant.reasoned) return false;
    return manualGrant.untilMs === null || atMs < manualGrant.untilMs;
  });
  return usableKey ?? null;
}

function isOwn(by: string, { agentId }: Asked["input"]): boolean {
  return agentId !== null && isOne(by, agentId);
}

/** The manual grant that the call uses up when it runs. */
export function findUsedManualGrant(question: Question): string | null {
  const { tier } = question.asked.tool;
  if (question.approved) return null;
  const needed =
    tier.action === "hitl" || (tier.action === "grant" && !policyGrants(question, tier));
  return needed ? findManualGrant(question) : null;
}

function usedOf(history: History, tier: CompiledTier): Call[] {
  return history.calls.filter(
    (call) =>
      call.kind === "allowed" &&
      call.status !== "not_executed" &&
      call.tool.tier.name === tier.name,
  );
}
