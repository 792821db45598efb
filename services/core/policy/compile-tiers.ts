/**
 * The tiers of a policy. The first tier whose pattern matches a tool applies, unless the declared
 * risk is stricter.
 */
import { assertNever } from "../invariant.ts";
import type { CompileProblem } from "./compile-identity.ts";
import type { CompiledHold, CompiledTier } from "./compiled.ts";
import {
  type CompiledCondition,
  type ConditionContext,
  type ConditionDocument,
  compileCondition,
} from "./conditions/condition.ts";
import type { HitlTier, PolicyDocument, PolicyTier, RiskLevel } from "./document.ts";
import type { GlobMatcher } from "./glob.ts";
import { type PathSegment, policyPath } from "./path.ts";
import { compileToolGlobs } from "./tool-glob.ts";

/** The terms of a hold that no tier describes: one approval, no reason required, 15 minutes. */
const DEFAULT_HOLD: CompiledHold = { expiresMs: 900_000, requireReason: false, approvals: 1 };

/** A tier that matches a tool's name, and applies to the calls that its condition holds for. */
export interface TierCandidate {
  readonly tier: CompiledTier;
  /** Null: it applies to all calls. */
  readonly condition: CompiledCondition | null;
  readonly written: ConditionDocument | null;
  /** Path of the condition. */
  readonly at: readonly PathSegment[];
}

export interface Tiers {
  /** The first tier whose pattern matches, or null; of a tool without conditional tiers. */
  readonly matching: (tool: string) => CompiledTier | null;
  /** The tiers whose patterns match, up to the first without a condition. */
  readonly candidates: (tool: string) => readonly TierCandidate[];
  readonly findByName: (name: string) => CompiledTier | null;
  /**
   * The tier that a rule names: one of the policy, or what `allow`, `hitl` and `deny` say where no tier
   * has that name. `rule`: the path of the name.
   */
  readonly findForRule: (name: string, rule: string) => CompiledTier | null;
  readonly forRisk: (risk: RiskLevel, rule: string) => CompiledTier;
  /**
   * The tier of a hold: the first `hitl` tier of the policy, or the default terms where it has
   * none.
   */
  readonly hitl: (rule: string) => CompiledTier;
  /** The tier of a declared call that no tier, risk or rule names. */
  readonly byDefault: (call: { readonly isRead: boolean }) => CompiledTier;
  readonly longestHoldMs: number;
}

export const STRICTNESS = { allow: 0, allowlist: 1, grant: 2, hitl: 3, deny: 4 } as const;

export function stricter(a: CompiledTier, b: CompiledTier): CompiledTier {
  return STRICTNESS[b.action] > STRICTNESS[a.action] ? b : a;
}

export function compileTiers(
  document: PolicyDocument,
  context: ConditionContext,
  problems: CompileProblem[],
): Tiers {
  const written = document.authorization?.tiers ?? [];
  const compiled = written.map((tier, at) => compileTier(tier, at, written));
  const all = written.map((tier, index) => {
    const at = ["authorization", "tiers", index, "when"];
    return candidateOf(tier, compiled[index] as CompiledTier, at, context, problems);
  });
  checkDefault(document, problems);
  const matchers: GlobMatcher[] = written.map((tier) =>
    compileToolGlobs(tier.pattern, tier.action === "hitl" || tier.action === "deny"),
  );
  const first = (action: CompiledTier["action"]) => compiled.find((t) => t.action === action);
  const hitl = (rule: string): CompiledTier =>
    first("hitl") ?? { action: "hitl", name: null, rule, hold: DEFAULT_HOLD };
  const byDefault = compileDefault(document, hitl);
  const withoutGrant = (rule: string): CompiledTier => {
    const { action } = byDefault({ isRead: false });
    if (action === "deny") return { action, name: null, rule };
    const holds = action === "hitl" || document.preset === "strict";
    return holds ? hitl(rule) : { action: "allow", name: null, rule };
  };
  const findByName = (name: string): CompiledTier | null =>
    compiled.find((tier) => tier.name === name) ?? null;
  return {
    matching: (tool) => {
      const at = matchers.findIndex((matcher) => matcher(tool));
      return at < 0 ? null : (compiled[at] ?? null);
    },
    candidates: (tool) => {
      const matching = all.filter((_, at) => matchers[at]?.(tool) === true);
      const last = matching.findIndex(({ condition }) => condition === null);
      return last < 0 ? matching : matching.slice(0, last + 1);
    },
    findByName,
    findForRule: (name, rule) => {
      const tier = findByName(name);
      if (tier !== null || name === "hitl") return tier ?? hitl(rule);
      return name === "allow" || name === "deny" ? { action: name, name: null, rule } : null;
    },
    forRisk: (risk, rule) => {
      if (risk === "LOW") return { action: "allow", name: null, rule };
      if (risk === "HIGH") return hitl(rule);
      return first("grant") ?? withoutGrant(rule);
    },
    hitl,
    byDefault,
    longestHoldMs: Math.max(DEFAULT_HOLD.expiresMs, ...compiled.map(holdMs)),
  };
}

function candidateOf(
  { when }: PolicyTier,
  tier: CompiledTier,
  at: readonly PathSegment[],
  context: ConditionContext,
  problems: CompileProblem[],
): TierCandidate {
  if (when === undefined) return { tier, condition: null, written: null, at };
  const condition = compileCondition(when, at, context, problems);
  return { tier, condition, written: when, at };
}

/** Where no condition holds, the default decides: it must not be one that nobody wrote. */
function checkDefault({ authorization }: PolicyDocument, problems: CompileProblem[]): void {
  if (authorization?.default !== undefined) return;
  const index = (authorization?.tiers ?? []).findIndex(({ when }) => when !== undefined);
  if (index < 0) return;
  const message =
    "needs `authorization.default`, which decides where no condition holds: write `default: ask` beside `tiers`";
  problems.push({ path: policyPath(["authorization", "tiers", index, "when"]), message });
}

/** What is wrong with the name of a tier in a rule. */
export function unknownTier(name: string): string {
  return `\`${name}\` is not the name of a tier of this policy: write one of its names, or allow, hitl or deny`;
}

/** Whether the policy has neither tools nor tiers: then every tool is known, as an undeclared write. */
export function declaresNothing({ tool_schemas, authorization }: PolicyDocument): boolean {
  return Object.keys(tool_schemas ?? {}).length === 0 && (authorization?.tiers ?? []).length === 0;
}

function compileDefault(document: PolicyDocument, hitl: Tiers["hitl"]): Tiers["byDefault"] {
  const written = document.authorization?.default;
  const rule = written === undefined ? "preset" : policyPath(["authorization", "default"]);
  // Under `strict` a tool that no rule covers may not write without approval.
  const asks = document.preset === "strict" && !declaresNothing(document);
  const action = written ?? (asks ? "ask" : "allow");
  return ({ isRead }) => {
    if (isRead || action === "allow") return { action: "allow", name: null, rule };
    return action === "ask" ? hitl(rule) : { action: "deny", name: null, rule };
  };
}

function holdMs(tier: CompiledTier): number {
  if (tier.action === "hitl") return tier.hold.expiresMs;
  return tier.action === "grant" ? (tier.onExceeded?.expiresMs ?? 0) : 0;
}

function holdOf(tier: HitlTier | undefined): CompiledHold {
  if (tier === undefined) return DEFAULT_HOLD;
  return {
    expiresMs: tier.expires_ms ?? DEFAULT_HOLD.expiresMs,
    requireReason: tier.require_reason ?? DEFAULT_HOLD.requireReason,
    approvals: tier.approvals ?? DEFAULT_HOLD.approvals,
  };
}

function compileTier(tier: PolicyTier, at: number, all: readonly PolicyTier[]): CompiledTier {
  const rule = policyPath(["authorization", "tiers", at]);
  switch (tier.action) {
    case "allowlist":
      return { action: "allowlist", name: tier.name, rule, rate: tier.rate_limit ?? null };
    case "per_conversation_grant": {
      const hitl = all.find((t): t is HitlTier => t.action === "hitl");
      return {
        action: "grant",
        name: tier.name,
        rule,
        ceiling: tier.ceiling,
        ttlMs: tier.ttl_ms ?? null,
        grantedBy: tier.granted_by ?? "policy",
        apartFrom: null,
        onExceeded: tier.on_exceeded === "hitl" ? holdOf(hitl) : null,
      };
    }
    case "hitl":
      return { action: "hitl", name: tier.name, rule, hold: holdOf(tier) };
    case "deny":
      return { action: "deny", name: tier.name, rule };
    default:
      return assertNever(tier);
  }
}
