/** Applies the tier of the tool. It runs late, so that no person is asked in vain. */
import { trieGet } from "../../collections/trie.ts";
import type { AllowlistTier, CompiledHold, CompiledTier, TestedRule } from "../policy/compiled.ts";
import { isSameSpeaker } from "../speaker.ts";
import { hasLeft, manualGrantKey, ruleKey } from "../state/manual-grants.ts";
import {
  type CallContext,
  defineCheck,
  type Finding,
  finding,
  NOTHING,
  strikeKeyOf,
} from "./check.ts";
import { likeDenied } from "./denials.ts";
import type { ExplainedCall } from "./explain-row.ts";
import { overRate } from "./rate.ts";

export const tierCheck = defineCheck("tier", {
  find: findTierLimits,
  row: { rule: ({ tier }) => tier.rule, value: showTier },
});

function findTierLimits(call: CallContext): readonly Finding[] {
  const { tier, limits } = call.tool;
  const findings = ofTier(call, tier);
  if (limits.length === 0) return findings;
  return [...limits.flatMap((limit) => rateLimit(call, limit)), ...findings];
}

function ofTier(call: CallContext, tier: CompiledTier): readonly Finding[] {
  switch (tier.action) {
    case "allow":
      return NOTHING;
    case "deny":
      return [
        finding({
          reason: "tier_denied",
          rule: tier.rule,
          disposition: "change_approach",
          detail: withWhy(whoDenies(call), call),
          strikeKey: call.wasHeld ? null : strikeKeyOf(call, "tier_denied"),
        }),
      ];
    case "allowlist":
      return rateLimit(call, tier);
    case "grant":
      return grant(call, tier);
    case "hitl":
      return hold(call, tier.rule, tier.hold, whyOf(call));
  }
}

function whoDenies({ tool: { tier } }: CallContext): string {
  if (tier.name !== null) return `The tier \`${tier.name}\` denies it`;
  const isOfRule = tier.rule.startsWith("tool_schemas");
  return isOfRule ? "A rule of the tool denies it" : "No rule of the policy allows this write";
}

/** The reasons that the rules of `commands` give for the call. */
function whyOf({ tool }: CallContext): string | null {
  return tool.why === null ? null : `${tool.why}.`;
}

function withWhy(sentence: string, call: CallContext): string {
  const why = whyOf(call);
  return why === null ? `${sentence}.` : `${sentence}: ${why}`;
}

function rateLimit(call: CallContext, tier: AllowlistTier): readonly Finding[] {
  if (tier.rate === null) return NOTHING;
  const waitMs = overRate(trieGet(call.state.rates, `tier:${tier.name}`), tier.rate, call.nowMs);
  if (waitMs === null) return NOTHING;
  return [
    finding({
      reason: "rate_limited",
      rule: `${tier.rule}.rate_limit`,
      disposition: "wait",
      retryAfterMs: waitMs,
      resolution: "retry_after",
    }),
  ];
}

/**
 * Calls that the policy grants: `ceiling` calls for `ttl_ms` from the start of the conversation.
 * Beyond them, and from the start where only verdicts grant, manual grants count.
 */
function grant(
  call: CallContext,
  tier: Extract<CompiledTier, { action: "grant" }>,
): readonly Finding[] {
  const problem = grantProblem(call, tier);
  if (problem === null || findManualGrantKey(call) !== null) return NOTHING;
  const { detail, key } = problem;
  if (tier.onExceeded !== null) return hold(call, tier.rule, tier.onExceeded, detail);
  return [
    finding({
      reason: "grant_exceeded",
      rule: `${tier.rule}.${key}`,
      disposition: "ask_user",
      detail,
    }),
  ];
}

/** Why the policy's own grant does not cover the call, or null. */
function grantProblem(
  { state, tool, nowMs }: CallContext,
  tier: Extract<CompiledTier, { action: "grant" }>,
): { readonly detail: string; readonly key: string } | null {
  if (tier.apartFrom !== null) {
    const both = `\`${tier.name}\` and \`${tier.apartFrom}\``;
    const detail = `It has calls of the tiers ${both}, which are counted apart: make them one by one.`;
    return { detail, key: "ceiling" };
  }
  if (tier.grantedBy === "verdict") {
    const detail = `Nobody has granted calls of tier \`${tier.name}\`, or they are used up.`;
    return { detail, key: "granted_by" };
  }
  if (isRevoked(state, manualGrantKey("tool", tool.name))) {
    return { detail: `Calls of \`${tool.name}\` were revoked.`, key: "ceiling" };
  }
  if (isRevoked(state, manualGrantKey("tier", tier.name))) {
    return { detail: `The grant of tier \`${tier.name}\` was revoked.`, key: "ceiling" };
  }
  if (tier.ttlMs !== null && nowMs >= state.startedAtMs + tier.ttlMs) {
    return { detail: `The grant of tier \`${tier.name}\` is over.`, key: "ttl_ms" };
  }
  const used = trieGet(state.grants, tier.name)?.used ?? 0;
  if (used < tier.ceiling) return null;
  const detail = `All ${tier.ceiling} calls of tier \`${tier.name}\` are used up.`;
  return { detail, key: "ceiling" };
}

function isRevoked({ manualGrants }: CallContext["state"], key: string): boolean {
  return trieGet(manualGrants, key)?.revoked === true;
}

/**
 * Terms of the hold that a manual grant replaces; null: a grant replaces none. Where several people
 * must approve, one alone grants no calls: a grant has one author.
 */
export function heldInstead(tier: CompiledTier): CompiledHold | null {
  if (tier.action === "hitl") return tier.hold;
  return tier.action === "grant" && tier.grantedBy === "policy" ? tier.onExceeded : null;
}

/** The key of a manual grant for the tool's rule or its tier that has a call left, or null. */
function findManualGrantKey(call: CallContext): string | null {
  const { state, tool } = call;
  if (state.manualGrants.size === 0) return null;
  const terms = heldInstead(tool.tier);
  if ((terms?.approvals ?? 1) > 1) return null;
  const ofRule = ruleKey(tool.name, tool.ruleDigest);
  if (serves(call, ofRule, terms)) return ofRule;
  // A revoked tool stays revoked, whatever is granted of its tier.
  const isTaken = isRevoked(state, manualGrantKey("tool", tool.name));
  if (tool.tier.name === null || isTaken || isApart(tool.tier)) return null;
  const ofTier = manualGrantKey("tier", tool.tier.name);
  return serves(call, ofTier, terms) ? ofTier : null;
}

/**
 * Whether parts of the call belong to another grant tier: a grant for one tier is no grant for the
 * other.
 */
function isApart(tier: CompiledTier): boolean {
  return tier.action === "grant" && tier.apartFrom !== null;
}

/**
 * Nobody can grant to themselves what they may not approve, and a grant needs the reason that an
 * approval would need.
 */
function serves(
  { state, proposal, nowMs }: CallContext,
  key: string,
  terms: CompiledHold | null,
): boolean {
  const manualGrant = trieGet(state.manualGrants, key);
  if (manualGrant === undefined || !hasLeft(manualGrant, nowMs)) return false;
  if (proposal.agentId !== null && isSameSpeaker(manualGrant.by, proposal.agentId)) return false;
  return manualGrant.reasoned || terms === null || !terms.requireReason;
}

/**
 * The manual grant that the call uses up when it runs, where the policy's own grant does not cover
 * it.
 */
export function manualGrantUsed(call: CallContext): string | null {
  const { tier } = call.tool;
  if (call.approved || call.state.manualGrants.size === 0) return null;
  if (tier.action === "hitl") return findManualGrantKey(call);
  return tier.action === "grant" && grantProblem(call, tier) !== null
    ? findManualGrantKey(call)
    : null;
}

function hold(
  call: CallContext,
  rule: string,
  terms: CompiledHold,
  detail: string | null,
): readonly Finding[] {
  if (call.approved || findManualGrantKey(call) !== null) return NOTHING;
  return [
    finding({
      reason: "approval_required",
      rule,
      disposition: "wait",
      detail: [detail, likeDenied(call)].filter((part) => part !== null).join(" ") || null,
      hold: terms,
      resolution: "approval",
    }),
  ];
}

function showTier({ tool, commands, testedRules }: ExplainedCall): string {
  const each = commands.map(
    ({ text, tier: of, rule, why }) =>
      `\`${text}\` ${nameTier(of)} by ${rule}${why === null ? "" : ` (${why})`}`,
  );
  return [nameTier(tool.tier), ...each, ...testedRules.map(showTested)].join("; ");
}

const APPLIES = { true: "applies", false: "does not apply", unreadable: "may apply" } as const;
const HOLDS = { true: "holds", false: "does not hold", unreadable: "cannot be read" } as const;

function showTested({ name, truth, tests }: TestedRule): string {
  const each = tests.map(({ text, truth: one }) => `${text} ${HOLDS[`${one}`]}`);
  const said = each.length === 0 ? "" : `: ${each.join(", ")}`;
  return `\`${name}\` ${APPLIES[`${truth}`]}${said}`;
}

function nameTier(tier: CompiledTier): string {
  switch (tier.action) {
    case "allow":
      return "none: allowed";
    case "allowlist":
      return tier.rate === null
        ? `\`${tier.name}\`: allowed`
        : `\`${tier.name}\`: ${tier.rate.count} in ${tier.rate.windowMs / 1000} s`;
    case "grant":
      return `\`${tier.name}\`: ${tier.ceiling} calls for each conversation`;
    case "hitl":
      return `${tier.name === null ? "a person" : `\`${tier.name}\`: a person`} must approve`;
    case "deny":
      return tier.name === null ? "none: denied" : `\`${tier.name}\`: denied`;
  }
}
