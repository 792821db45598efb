/** Traces one call through every check: its value, its result, and the line of the policy. */

import type { JsonObject, JsonValue } from "../../core/canonical/json-value.ts";
import type { ExplainedCall, ExplainRow } from "../../core/checks/explain-row.ts";
import { ENTRY_ROWS } from "../../core/checks/explain-row.ts";
import { CHECKS } from "../../core/checks/order.ts";
import { readBudgets } from "../../core/decide/count-budgets.ts";
import { decide } from "../../core/decide/decide.ts";
import type { Notice } from "../../core/decision.ts";
import type { DecisionEvent } from "../../core/events.ts";
import type { ProposalInput } from "../../core/inputs.ts";
import { isObject } from "../../core/policy/argument-path.ts";
import type { CompiledTool } from "../../core/policy/compiled.ts";
import { toolOfCall } from "../../core/policy/compiled.ts";
import type { PolicySource } from "../../core/policy/source.ts";
import { ENTRY_ORDER } from "../../core/reasons/gate-reasons.ts";
import {
  isAlwaysEnforced,
  type Mode,
  REASON_CODES,
  REASONS,
  type ReasonCode,
} from "../../core/reasons/reasons.ts";
import type { ConversationState } from "../../core/state/state.ts";
import { reasonOf } from "../output/reason-of.ts";
import type { ReplayPolicy } from "../replay/replay-conversation.ts";

/**
 * passes: nothing fired. decides: this reason refuses or holds the call. would refuse: it fired
 * too, after the one that decided. warns, shadow: it fired in that mode. off: not checked.
 */
export type CheckResult = "passes" | "decides" | "would refuse" | "warns" | "shadow" | "off";

export interface ExplainedCheck {
  readonly number: string;
  readonly check: string;
  readonly result: CheckResult;
  /** The reason that fired, or null. */
  readonly reason: ReasonCode | null;
  /** The value that the check tested. */
  readonly value: string;
  /** `file:line:column` of the rule, or why there is none. */
  readonly location: string;
  readonly rule: string;
}

export interface Explanation {
  readonly tool: string;
  readonly isRead: boolean;
  readonly outcome: DecisionEvent["type"];
  readonly reason: string | null;
  /** The message for the model. */
  readonly message: string | null;
  readonly checks: readonly ExplainedCheck[];
}

interface Explained {
  readonly decision: DecisionEvent;
  /** Everything that would fire if nothing were enforced. */
  readonly fired: readonly Notice[];
  readonly tool: CompiledTool;
  readonly source: PolicySource;
}

export function explainCall(
  state: ConversationState | undefined,
  proposal: ProposalInput,
  policy: ReplayPolicy,
  source: PolicySource,
  nowMs: number,
): Explanation {
  const [decision] = decide(state, proposal, policy.enforced, nowMs);
  const [unenforced] = decide(state, proposal, policy.shadowed, nowMs);
  if (!isDecision(decision) || !isDecision(unenforced)) {
    throw new Error("a new proposal gave no decision");
  }
  const args = argumentsOf(decision);
  const { spending } = readBudgets(state, proposal, policy.enforced, {
    args: () => args,
    nowMs,
    heldAs: null,
  });
  const base = policy.enforced.tool(proposal.tool);
  const tool = toolOfCall(policy.enforced, proposal.tool, args, spending);
  const looked: ExplainedCall = {
    state,
    proposal,
    policy: policy.enforced,
    tool,
    commands: base.commandsOf?.(args, spending) ?? [],
    testedRules: base.testedRulesOf?.(args, spending) ?? [],
    nowMs,
    unenforced,
  };
  const explained = { decision, fired: unenforced.notices.shadow, tool, source };
  return {
    tool: proposal.tool,
    isRead: decision.policy.isRead,
    outcome: decision.type,
    reason: reasonOf(decision),
    message: messageOf(decision),
    checks: CHECK_ROWS.map((row) => explainRow(row, looked, explained)),
  };
}

/** The parsed arguments; empty if they could not be parsed. */
export function argumentsOf({ arguments: { text } }: DecisionEvent): JsonObject {
  const value: JsonValue = text === "" ? {} : (JSON.parse(text) as JsonValue);
  return isObject(value) ? value : {};
}

function isDecision(event: { readonly type: string } | undefined): event is DecisionEvent {
  return event?.type === "allowed" || event?.type === "refused" || event?.type === "held";
}

function explainRow(row: CheckRow, looked: ExplainedCall, explained: Explained): ExplainedCheck {
  const { decision, fired, tool, source } = explained;
  const decisive = reasonOf(decision);
  const decides = row.reasons.find((reason) => reason === decisive);
  const notice = fired.find(({ reason }) => row.reasons.includes(reason));
  const reason = decides ?? notice?.reason ?? null;
  const rule = decides === undefined ? (notice?.rule ?? row.rule(tool)) : ruleOf(decision);
  return {
    number: row.number,
    check: row.name,
    result: resultOf(row, reason, decides !== undefined, tool),
    reason,
    value: row.value(looked),
    location: locateRule(rule, source),
    rule,
  };
}

function resultOf(
  row: CheckRow,
  reason: ReasonCode | null,
  decides: boolean,
  tool: CompiledTool,
): CheckResult {
  if (decides) return "decides";
  if (reason !== null) return RESULT_OF_MODE[tool.modes[reason]];
  const switchable = row.reasons.filter((code) => !isAlwaysEnforced(code));
  const off = switchable.length > 0 && switchable.every((code) => tool.modes[code] === "off");
  return off ? "off" : "passes";
}

const RESULT_OF_MODE: Readonly<Record<Mode, CheckResult>> = {
  enforce: "would refuse",
  warn: "warns",
  shadow: "shadow",
  off: "off",
};

function messageOf(decision: DecisionEvent): string | null {
  switch (decision.type) {
    case "allowed":
      return null;
    case "held":
      return decision.message;
    case "refused":
      return decision.refusal.message;
  }
}

function ruleOf(decision: DecisionEvent): string {
  switch (decision.type) {
    case "allowed":
      return "";
    case "held":
      return decision.rule;
    case "refused":
      return decision.refusal.rule;
  }
}

/** A rule that nobody wrote comes from the preset; one that no policy can change is the gate's. */
function locateRule(rule: string, source: PolicySource): string {
  if (rule === "gate") return "always";
  const at = source.locate(rule);
  if (at === null || at.path === "") return "preset";
  return `${at.file}:${at.line}:${at.column}`;
}

interface CheckRow extends ExplainRow {
  readonly number: string;
  readonly name: string;
  readonly reasons: readonly ReasonCode[];
}

const ROW_ENTRIES = [
  ...ENTRY_ORDER.map((name) => ({ name, row: ENTRY_ROWS[name] })),
  ...CHECKS.flatMap(({ name, row }) => (row === null ? [] : [{ name, row }])),
];

export const CHECK_ROWS: readonly CheckRow[] = ROW_ENTRIES.map(({ name, row }, at) => ({
  ...row,
  number: String(at + 1),
  name: name.replaceAll("_", " "),
  reasons: REASON_CODES.filter((code) => REASONS[code].row === name),
}));
