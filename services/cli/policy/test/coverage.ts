/**
 * Which rules of a policy the cases reach. A call reaches the tool and the tier that match it; a
 * decision reaches every rule that it reports as refusing, holding or warning.
 */
import { listRules, type WrittenRule } from "../../../adapters/policy/written-rules.ts";
import type { DecisionEvent } from "../../../core/events.ts";
import { type CompiledPolicy, toolOfCall } from "../../../core/policy/compiled.ts";
import type { Spending } from "../../../core/policy/conditions/spending.ts";
import type { DeclaredEffect, PolicyDocument, PolicyTier } from "../../../core/policy/document.ts";
import { policyPath } from "../../../core/policy/path.ts";
import { argumentsOf } from "../../explain/explain-call.ts";
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

  add({ decision, final, spending }: DecidedCaseCall): void {
    this.#count(decision, spending);
    if (final !== null) this.#count(final, spending);
  }

  /** In the order of the policy's blocks. */
  get rules(): readonly RuleCoverage[] {
    return this.#rules.map(({ path }) => ({ rule: path, calls: this.#calls.get(path) ?? 0 }));
  }

  #count(decision: DecisionEvent, spending: Spending): void {
    const citedRules = listCitedRules(decision);
    for (const { path, isReached } of this.#rules) {
      const reached =
        isReached?.(decision, spending) === true || citedRules.some((rule) => isIn(rule, path));
      if (reached) this.#calls.set(path, (this.#calls.get(path) ?? 0) + 1);
    }
  }
}

type Rule = {
  readonly path: string;
  /** If a decision may match the rule without reporting it. */
  readonly isReached?: (decision: DecisionEvent, spending: Spending) => boolean;
};

function listCitedRules(decision: DecisionEvent): readonly string[] {
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
  const isUnknown = ({ call: { tool } }: DecisionEvent): boolean => !policy.tool(tool).isDeclared;
  const tools = Object.keys(document.tool_schemas ?? {}).map((name) => ({
    path: policyPath(["tool_schemas", name]),
    isReached: ({ call }: DecisionEvent) => call.tool === name,
  }));
  const keys = listRules(document)
    .filter(isOwnRule)
    .map(({ path, value }): Rule => {
      const written = { path: policyPath(path) };
      if (path[0] === "unknown_tools") return { ...written, isReached: isUnknown };
      if (isTier(path)) {
        const { name } = value as PolicyTier;
        return { ...written, isReached: (decision) => decision.policy.tier === name };
      }
      if (path.join(".") === "authorization.default") {
        return { ...written, isReached: (one, spending) => isByDefault(one, spending, policy) };
      }
      if (isVariantRule(path)) {
        return {
          ...written,
          isReached: (one, spending) => isVariant(written.path, one, spending, policy),
        };
      }
      return isCommandRule(path)
        ? {
            ...written,
            isReached: (decision, spending) => isJudgedBy(written.path, decision, spending, policy),
          }
        : written;
    });
  return [...keys.filter((rule) => !isOfTool(rule)), ...tools.flatMap(withOwn(keys))];
}

/** A repeatable effect refuses nothing, and a schema that was imported needs no case of its own. */
function isOwnRule({ path, value }: WrittenRule): boolean {
  if (path.at(-1) === "input_schema") return false;
  return path.at(-2) !== "effects" || isExclusive(value as DeclaredEffect);
}

function isTier(path: WrittenRule["path"]): boolean {
  return path[0] === "authorization" && path.length === 3;
}

function isCommandRule(path: WrittenRule["path"]): boolean {
  return path[2] === "commands" && path.at(-2) === "rules";
}

function isVariantRule(path: WrittenRule["path"]): boolean {
  return path[2] === "variants" && (path.at(-2) === "rules" || path.at(-1) === "otherwise");
}

/** Whether no tier, risk or rule names the call, so that the policy's default decides. */
function isByDefault(decision: DecisionEvent, spending: Spending, policy: CompiledPolicy): boolean {
  return toolOfCall(policy, decision.call.tool, argumentsOf(decision), spending).isByDefault;
}

function isVariant(
  path: string,
  decision: DecisionEvent,
  spending: Spending,
  policy: CompiledPolicy,
): boolean {
  const { variantRulesOf } = policy.tool(decision.call.tool);
  return variantRulesOf?.(argumentsOf(decision), spending).includes(path) === true;
}

/** Also counts if another command of the line decided. */
function isJudgedBy(
  path: string,
  decision: DecisionEvent,
  spending: Spending,
  policy: CompiledPolicy,
): boolean {
  const { commandsOf } = policy.tool(decision.call.tool);
  if (commandsOf === null) return false;
  return commandsOf(argumentsOf(decision), spending).some(({ rule }) => isIn(rule, path));
}

const EXCLUSIVE_KINDS = ["create", "charge", "transfer", "delete", "send"];

function isExclusive({ kind, exclusive }: DeclaredEffect): boolean {
  return exclusive ?? EXCLUSIVE_KINDS.includes(kind);
}

function isOfTool({ path }: Rule): boolean {
  return path.startsWith("tool_schemas");
}

/** The tool, then the rules in its entry. */
function withOwn(keys: readonly Rule[]): (tool: Rule) => readonly Rule[] {
  return (tool) => [tool, ...keys.filter(({ path }) => isIn(path, tool.path))];
}
