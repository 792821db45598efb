// The other checks of the reference engine, in the order of docs/engine.md.
import type { CompiledPolicy, CompiledTier } from "../../../services/core/policy/compiled.ts";
import type { ReasonCode } from "../../../services/core/reasons.ts";
import { type Asked, byOrder, type Call, changedSince, type History, standing } from "./history.ts";
import { loopFindings } from "./loops.ts";

/** What is asked of the checks: a call, by whom it is covered, and which hold of it to leave out. */
export interface Question {
  readonly history: History;
  readonly asked: Asked;
  readonly policy: CompiledPolicy;
  readonly atMs: number;
  /** Covered by a user's confirmation or by an approval. */
  readonly meant: boolean;
  readonly approved: boolean;
}

export interface Finding {
  readonly reason: ReasonCode;
  /** The earlier result answers the call. */
  readonly answers: boolean;
  readonly cycle: readonly string[] | null;
  readonly twin: Call | null;
}

export function findings(question: Question): Finding[] {
  const plain = (reason: ReasonCode): Finding => ({
    reason,
    answers: false,
    cycle: null,
    twin: null,
  });
  const duplicate = duplicateFinding(question);
  const { history, asked, policy, atMs } = question;
  const loops = loopFindings(history, asked, policy, atMs).map((found) => ({
    ...plain(found.reason),
    cycle: found.cycle,
  }));
  const answers = duplicate?.answers === true;
  return [
    ...conversationFindings(history).map(plain),
    ...budgetFindings(question).map(plain),
    ...(answers ? loops.filter(({ reason }) => reason !== "tool_frequency") : []),
    ...(duplicate === null ? [] : [duplicate]),
    ...(conflicts(question) ? [plain("side_effect_conflict")] : []),
    ...loops,
    ...tierFindings(question).map(plain),
  ];
}

function conversationFindings(history: History): ReasonCode[] {
  const inTurn = history.refusals.filter((refusal) => refusal.turn === history.turns);
  const ended =
    inTurn.some((refusal) => refusal.ended === "turn") ||
    history.refusals.some((refusal) => refusal.ended === "conversation");
  const found: ReasonCode[] = ended ? ["conversation_ended"] : [];
  if (inTurn.some((refusal) => refusal.userInput)) found.push("user_input_required");
  return found;
}

function budgetFindings({ history, asked, policy }: Question): ReasonCode[] {
  const all = history.calls.filter((call) => call.kind !== "answered");
  const others = all.filter((call) => call.decisionId !== asked.decisionId);
  const inTurn = others.filter((call) => call.turn === history.turns);
  const ofTool = inTurn.filter((call) => call.tool.name === asked.tool.name);
  const { turn, conversation, tool } = policy.budgets;
  const found: ReasonCode[] = [];
  const over = (
    calls: readonly Call[],
    limit: { maxSteps: number | null; maxCalls: number | null },
  ) => {
    if (limit.maxSteps !== null && stepsWith(calls, asked, history) > limit.maxSteps) {
      found.push("budget_steps");
    }
    const counted = calls.filter(
      (call) => call.kind !== "hold ended" && call.status !== "not_executed",
    );
    if (limit.maxCalls !== null && counted.length >= limit.maxCalls) found.push("budget_calls");
  };
  over(inTurn, turn);
  over(others, conversation);
  over(ofTool, tool);
  return found.sort((a, b) => (a === b ? 0 : a === "budget_steps" ? -1 : 1));
}

/** Different steps of the calls, this one's included; a call without a step is one of its own. */
function stepsWith(calls: readonly Call[], asked: Asked, history: History): number {
  const nameOf = (turn: number, step: string | null, id: string): string =>
    JSON.stringify(step === null ? [id] : [turn, step, null]);
  const steps = calls.map((call) => nameOf(call.turn, call.input.step, call.decisionId));
  steps.push(nameOf(history.turns, asked.input.step, asked.decisionId));
  return new Set(steps).size;
}

/** The latest earlier call that is the same one, within the scope of its tool. */
export function twinOf({ history, asked }: Pick<Question, "history" | "asked">): Call | null {
  const same = standing(history).filter(
    (call) =>
      call.actionKey === asked.actionKey &&
      call.decisionId !== asked.decisionId &&
      (asked.tool.scope === "conversation" || call.turn === history.turns),
  );
  return same.sort(byOrder).at(-1) ?? null;
}

function parallel(asked: Asked, twin: Call, history: History): boolean {
  return (
    asked.tool.batchable &&
    asked.input.step !== null &&
    twin.input.step === asked.input.step &&
    twin.turn === history.turns
  );
}

function duplicateFinding(question: Question): Finding | null {
  const { history, asked, meant } = question;
  const { tool } = asked;
  const twin = twinOf(question);
  if (twin === null || tool.polling !== null) return null;
  const found = (reason: ReasonCode): Finding => ({ reason, answers: false, cycle: null, twin });
  const exempt = tool.repeatable || tool.bare || parallel(asked, twin, history);
  if (exempt && !tool.isRead) return null;
  switch (twin.status) {
    case "in_flight":
    case "held":
      return found("duplicate_in_flight");
    case "unknown":
      return tool.isRead || meant ? null : found("outcome_unknown");
    case "succeeded":
      return meant ? null : repeatOf(question, twin);
    default:
      return null;
  }
}

/** A repeat of a call that succeeded. */
function repeatOf({ history, asked, policy, atMs }: Question, twin: Call): Finding | null {
  const { tool } = asked;
  if (changedSince(history, asked, twin.order)) return null;
  const found = (answers: boolean): Finding => ({
    reason: "duplicate_call",
    answers,
    cycle: null,
    twin,
  });
  const answerable = tool.isRead || tool.answersAsRead;
  if (answerable && atMs < twin.atMs + tool.cacheMs && twin.whole && !tool.volatile) {
    return twin.repeats + 1 >= policy.answersFromRepeat ? found(true) : null;
  }
  if (tool.isRead || atMs >= twin.atMs + tool.windowMs) return null;
  return found(false);
}

/** Exclusive effects of earlier calls that stand on a resource which this call wants. */
function conflicts(question: Question): boolean {
  if (question.meant) return false;
  return question.asked.exclusive.some((effect) => {
    const holder = standing(question.history)
      .filter((call) => call.decisionId !== question.asked.decisionId)
      .filter((call) => call.status !== "not_executed")
      .filter((call) => call.status !== "failed" || call.transient)
      .filter((call) => call.exclusive.some((other) => other.resource === effect.resource))
      .sort(byOrder)
      .at(-1);
    if (holder === undefined) return false;
    const held = holder.exclusive.find((other) => other.resource === effect.resource);
    const undoes = `${held?.kind} ${effect.kind}`;
    if (undoes === "create delete" || undoes === "delete create") return false;
    if (holder.actionKey !== question.asked.actionKey) return true;
    return !(holder.status === "failed" || question.asked.tool.repeatable);
  });
}

function tierFindings({ history, asked, atMs, approved }: Question): ReasonCode[] {
  const { tier } = asked.tool;
  if (tier.action === "deny") return ["tier_denied"];
  if (tier.action === "hitl") return approved ? [] : ["approval_required"];
  if (tier.action === "allowlist" && tier.rate !== null) {
    const { windowMs, count } = tier.rate;
    const used = usedOf(history, tier).filter((call) => call.atMs > atMs - windowMs);
    return used.length >= count ? ["rate_limited"] : [];
  }
  if (tier.action !== "grant") return [];
  const over = tier.ttlMs !== null && atMs >= history.startedAtMs + tier.ttlMs;
  if (!over && usedOf(history, tier).length < tier.ceiling) return [];
  if (tier.onExceeded === null) return ["grant_exceeded"];
  return approved ? [] : ["approval_required"];
}

function usedOf(history: History, tier: CompiledTier): Call[] {
  return history.calls.filter(
    (call) => call.kind === "allowed" && call.tool.tier.name === tier.name,
  );
}
