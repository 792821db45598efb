/**
 * Which rules of a policy the cases reach. A tool and a tier are reached by a call that falls under
 * them; whatever refuses, holds or warns is reached by a decision that names it.
 */
import type { DecisionEvent } from "../../../core/events.ts";
import type { CompiledPolicy } from "../../../core/policy/compiled.ts";
import type { PolicyDocument, ToolDocument } from "../../../core/policy/document.ts";
import { policyPath } from "../../../core/policy/path.ts";
import type { DecidedCaseCall } from "./run-case.ts";

export type RuleCoverage = {
  /** Path in the policy. */
  readonly rule: string;
  /** Decisions that reached it. */
  readonly calls: number;
};

export class Coverage {
  readonly #rules: readonly Rule[];
  readonly #calls = new Map<string, number>();

  constructor(document: PolicyDocument, policy: CompiledPolicy) {
    this.#rules = rulesOf(document, policy);
  }

  add({ decision, final }: DecidedCaseCall): void {
    this.#count(decision);
    if (final !== null) this.#count(final);
  }

  /** In the order of the policy's blocks. */
  get rules(): readonly RuleCoverage[] {
    return this.#rules.map(({ path }) => ({ rule: path, calls: this.#calls.get(path) ?? 0 }));
  }

  #count(decision: DecisionEvent): void {
    const named = rulesNamed(decision);
    for (const { path, isReached } of this.#rules) {
      const reached = isReached?.(decision) === true || named.some((rule) => isIn(rule, path));
      if (reached) this.#calls.set(path, (this.#calls.get(path) ?? 0) + 1);
    }
  }
}

type Rule = {
  readonly path: string;
  /** Where a decision may fall under the rule without naming it. */
  readonly isReached?: (decision: DecisionEvent) => boolean;
};

function rulesNamed(decision: DecisionEvent): readonly string[] {
  const notices = [...decision.notices.warnings, ...decision.notices.shadow].map(
    ({ rule }) => rule,
  );
  if (decision.type === "refused") return [decision.refusal.rule, ...notices];
  return decision.type === "held" ? [decision.rule, ...notices] : notices;
}

function isIn(rule: string, path: string): boolean {
  if (!rule.startsWith(path)) return false;
  const next = rule[path.length];
  return next === undefined || next === "." || next === "[";
}

function rulesOf(document: PolicyDocument, policy: CompiledPolicy): readonly Rule[] {
  const isUnknown = ({ call: { tool } }: DecisionEvent): boolean => !policy.tool(tool).known;
  return [
    ...written(document, ["unknown_tools"]).map(({ path }) => ({ path, isReached: isUnknown })),
    ...written(document, ["deduplication"]),
    ...written(document.budgets, BUDGETS, ["budgets"]),
    ...written(document.budgets?.per_conversation, BUDGETS, ["budgets", "per_conversation"]),
    ...written(document.budgets?.per_tool, BUDGETS, ["budgets", "per_tool"]),
    ...written(document.escalation, ["user_input", "end"], ["escalation"]),
    ...written(document.loops, LOOPS, ["loops"]),
    ...killRules(document.kill),
    ...tierRules(document.authorization?.tiers),
    ...Object.entries(document.tool_schemas ?? {}).flatMap(([name, tool]) => toolRules(name, tool)),
  ];
}

const BUDGETS = ["max_steps", "max_tool_calls", "max_seconds", "max_spend"];
const LOOPS = ["cycle_rounds", "rotation", "failure_streak", "failure_run"];

/** The keys that are there and not switched off. */
function written(
  block: object | undefined,
  keys: readonly string[],
  above: readonly string[] = [],
): readonly Rule[] {
  const values = (block ?? {}) as Readonly<Record<string, unknown>>;
  return keys
    .filter((key) => values[key] !== undefined && values[key] !== "off")
    .map((key) => ({ path: policyPath([...above, key]) }));
}

function killRules(kill: PolicyDocument["kill"]): readonly Rule[] {
  const listed = (["tools", "agents", "tenants"] as const).flatMap((key) =>
    (kill?.[key] ?? []).map((_, at) => ({ path: policyPath(["kill", key, at]) })),
  );
  return kill?.all === true ? [...listed, { path: "kill.all" }] : listed;
}

type Tiers = NonNullable<PolicyDocument["authorization"]>["tiers"];

function tierRules(tiers: Tiers): readonly Rule[] {
  return (tiers ?? []).flatMap((tier, at): readonly Rule[] => {
    const path = policyPath(["authorization", "tiers", at]);
    const of: Rule = { path, isReached: (decision) => decision.policy.tier === tier.name };
    if (tier.action === "per_conversation_grant") return [of, { path: `${path}.ceiling` }];
    const hasRate = tier.action === "allowlist" && tier.rate_limit !== undefined;
    return hasRate ? [of, { path: `${path}.rate_limit` }] : [of];
  });
}

function toolRules(name: string, tool: ToolDocument): readonly Rule[] {
  const path = ["tool_schemas", name];
  const own = policyPath(path);
  const inner = (...more: (string | number)[]): Rule => ({ path: policyPath([...path, ...more]) });
  const effects = (tool.effects ?? []).flatMap((effect, at) =>
    isExclusive(effect) ? [inner("effects", at)] : [],
  );
  const similar = (tool.similarity ?? []).map((_, at) => inner("similarity", at));
  const keys = (["input_schema", "side_effect_resource", "frequency"] as const).flatMap((key) =>
    tool[key] === undefined ? [] : [inner(key)],
  );
  return [
    { path: own, isReached: (decision) => decision.call.tool === name },
    ...keys,
    ...effects,
    ...similar,
  ];
}

const EXCLUSIVE_KINDS = ["create", "charge", "transfer", "delete", "send"];

function isExclusive({ kind, exclusive }: NonNullable<ToolDocument["effects"]>[number]): boolean {
  return exclusive ?? EXCLUSIVE_KINDS.includes(kind);
}
