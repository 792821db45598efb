/** The checks in their order (docs/engine.md), with what each looks at. */

import { trieGet } from "../../collections/trie.ts";
import type { DecisionEvent } from "../../core/events.ts";
import type { ProposalInput } from "../../core/inputs.ts";
import type {
  BudgetLimit,
  CompiledPolicy,
  CompiledTier,
  CompiledTool,
  JudgedCommand,
} from "../../core/policy/compiled.ts";
import type { ReasonCode } from "../../core/reasons.ts";
import type { ConversationState } from "../../core/state/state.ts";
import { findTwin } from "../../core/state/twins.ts";

export interface Looked {
  readonly state: ConversationState | undefined;
  readonly proposal: ProposalInput;
  readonly policy: CompiledPolicy;
  readonly tool: CompiledTool;
  /** Of a tool with `commands`: what each part of the call is judged by. */
  readonly commands: readonly JudgedCommand[];
  readonly nowMs: number;
  /** The decision with nothing enforced: carries what the call touches. */
  readonly unenforced: DecisionEvent;
}

export interface CheckRow {
  readonly number: string;
  readonly name: string;
  readonly reasons: readonly ReasonCode[];
  /** Where the policy speaks of it while nothing fires. */
  readonly rule: (tool: CompiledTool) => string;
  readonly value: (looked: Looked) => string;
}

export const CHECK_ROWS: readonly CheckRow[] = [
  {
    number: "1",
    name: "envelope",
    reasons: ["malformed", "too_large", "misrouted", "unauthenticated"],
    rule: () => "limits",
    value: ({ unenforced, policy }) =>
      `${unenforced.arguments.text.length} characters of at most ${policy.canonicalLimits.maxBytes} bytes`,
  },
  {
    number: "2",
    name: "redelivery",
    reasons: ["call_id_conflict"],
    rule: () => "gate",
    value: () => "a call id that was not used before",
  },
  {
    number: "3",
    name: "tool",
    reasons: ["unknown_tool", "killed"],
    rule: ({ known, rule }) => (known ? rule : "unknown_tools"),
    value: ({ tool, commands }) =>
      `${tool.known ? "known" : "not known"}, a ${tool.isRead ? "read" : "write"}${commands.length > 0 ? "" : variant(tool)}`,
  },
  {
    number: "4",
    name: "arguments",
    reasons: ["invalid_arguments"],
    rule: ({ rule }) => `${rule}.input_schema`,
    value: ({ tool }) => (tool.validate === null ? "no schema" : "checked against the schema"),
  },
  {
    number: "5",
    name: "conversation",
    reasons: ["conversation_ended", "user_input_required", "acknowledgement_required"],
    rule: () => "escalation",
    value: ({ state }) => {
      const strikes = (state?.strikes ?? []).reduce((most, { count }) => Math.max(most, count), 0);
      return strikes === 0 ? "no strikes" : `${strikes} strikes`;
    },
  },
  {
    number: "6",
    name: "budgets",
    reasons: ["budget_steps", "budget_calls", "budget_seconds", "budget_spend"],
    rule: () => "budgets",
    value: budgets,
  },
  {
    number: "7",
    name: "duplicate",
    reasons: [
      "duplicate_call",
      "duplicate_in_flight",
      "outcome_unknown",
      "retry_exhausted",
      "retry_too_soon",
      "history_full",
    ],
    rule: () => "deduplication",
    value: duplicate,
  },
  {
    number: "8",
    name: "near duplicate",
    reasons: ["near_duplicate"],
    rule: ({ rule }) => `${rule}.similarity`,
    value: nearDuplicate,
  },
  {
    number: "9",
    name: "side effects",
    reasons: ["side_effect_conflict"],
    rule: ({ rule }) => `${rule}.effects`,
    value: sideEffects,
  },
  {
    number: "10",
    name: "loops",
    reasons: [
      "loop_repeat",
      "loop_cycle",
      "loop_no_progress",
      "loop_rotation",
      "failure_streak",
      "failure_run",
      "tool_frequency",
    ],
    rule: () => "deduplication.loop_threshold",
    value: loops,
  },
  {
    number: "11",
    name: "tier",
    reasons: ["tier_denied", "rate_limited", "grant_exceeded", "approval_required"],
    rule: ({ tier }) => tier.rule,
    value: tier,
  },
];

function variant({ variant: name }: CompiledTool): string {
  return name === null ? "" : ` (variant ${name})`;
}

function budgets({ policy, state, proposal }: Looked): string {
  const { turn, conversation, tool } = policy.budgets;
  const sameTurn = state !== undefined && (proposal.turn ?? state.turn.id) === state.turn.id;
  const used = state === undefined ? undefined : trieGet(state.tools, proposal.tool);
  const inTurn = sameTurn && used?.turnIndex === state.turn.index ? used : undefined;
  const parts = [
    spent("turn", turn, sameTurn ? state.turn.calls : 0, sameTurn ? state.turn.steps : 0),
    spent("conversation", conversation, state?.totals.calls ?? 0, state?.totals.steps ?? 0),
    spent("tool", tool, inTurn?.turnCalls ?? 0, inTurn?.turnSteps ?? 0),
  ].filter((part) => part !== null);
  return parts.length === 0 ? "none written" : parts.join("; ");
}

function spent(scope: string, limit: BudgetLimit, calls: number, steps: number): string | null {
  const parts = [
    limit.maxCalls === null ? null : `${calls} of ${limit.maxCalls} calls`,
    limit.maxSteps === null ? null : `${steps} of ${limit.maxSteps} steps`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : `${scope}: ${parts.join(", ")} used`;
}

function duplicate({ state, unenforced, tool, nowMs }: Looked): string {
  if (state === undefined || unenforced.type !== "allowed") return "no such call before";
  const twin = findTwin(state, unenforced.facts.twinKey, tool.isRead, nowMs);
  if (twin === undefined) return "no such call before";
  const ageS = ((nowMs - twin.atMs) / 1000).toFixed(0);
  const windowMs = tool.isRead ? tool.cacheMs : tool.windowMs;
  const what = tool.isRead ? "answered from memory for" : "a duplicate for";
  return `call ${twin.callId} ${twin.status} ${ageS} s ago; ${what} ${windowMs / 1000} s`;
}

function nearDuplicate({ tool }: Looked): string {
  if (tool.similarity.length === 0) return "no field declared";
  const fields = tool.similarity.map(({ field, threshold }) => `\`${field}\` from ${threshold} on`);
  return `compared: ${fields.join(", ")}`;
}

function sideEffects({ unenforced }: Looked): string {
  if (unenforced.type !== "allowed") return "not known";
  const { exclusive, resources, more } = unenforced.facts;
  const pending = more?.pending ?? [];
  const said = [...exclusive, ...pending].map((e) => `${e.kind} ${e.resource}`);
  if (pending.length > 0) return `${said.join(", ")}; the result names {result.…}`;
  if (exclusive.length > 0) return said.join(", ");
  if (resources === null) return "none declared";
  return `touches ${resources.join(", ")}, exclusive to nobody`;
}

function loops({ state, unenforced, policy, tool }: Looked): string {
  const same = (state?.ring ?? []).filter(
    ({ actionKey }) => actionKey === unenforced.arguments.actionKey,
  );
  if (tool.polling !== null) return `polling, ${same.length} calls so far`;
  const { sameOutput } = policy.loops;
  const most = sameOutput === null ? "no limit" : `refused at ${sameOutput} with one output`;
  return `${same.length} equal calls among the latest; ${most}`;
}

function tier({ tool, commands }: Looked): string {
  const each = commands.map(
    ({ text, tier: of, rule, why }) =>
      `\`${text}\` ${named(of)} by ${rule}${why === null ? "" : ` (${why})`}`,
  );
  return [named(tool.tier), ...each].join("; ");
}

function named(found: CompiledTier): string {
  switch (found.action) {
    case "allow":
      return "none: allowed";
    case "allowlist":
      return found.rate === null
        ? `\`${found.name}\`: allowed`
        : `\`${found.name}\`: ${found.rate.count} in ${found.rate.windowMs / 1000} s`;
    case "grant":
      return `\`${found.name}\`: ${found.ceiling} calls for each conversation`;
    case "hitl":
      return `${found.name === null ? "a person" : `\`${found.name}\`: a person`} must approve`;
    case "deny":
      return `\`${found.name}\`: denied`;
  }
}
