/** Check 11: what the tier of the tool asks for. Last, so that no human is asked in vain. */
import { trieGet } from "../persistent/trie.ts";
import type { CompiledHold, CompiledTier } from "../policy/compiled.ts";
import { type CallContext, type Finding, finding, NOTHING } from "./check.ts";
import { overRate } from "./rate.ts";

export function checkTier(call: CallContext): readonly Finding[] {
  const { tier } = call.tool;
  switch (tier.action) {
    case "allow":
      return NOTHING;
    case "deny":
      return [
        finding({
          reason: "tier_denied",
          rule: tier.rule,
          disposition: "change_approach",
          detail: `The tier \`${tier.name}\` denies it.`,
        }),
      ];
    case "allowlist":
      return rateLimit(call, tier);
    case "grant":
      return grant(call, tier);
    case "hitl":
      return hold(call, tier.rule, tier.hold, null);
  }
}

function rateLimit(
  call: CallContext,
  tier: Extract<CompiledTier, { action: "allowlist" }>,
): readonly Finding[] {
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

/** The grant starts with the conversation: `ceiling` calls, for `ttl_ms`. */
function grant(
  call: CallContext,
  tier: Extract<CompiledTier, { action: "grant" }>,
): readonly Finding[] {
  const used = trieGet(call.state.grants, tier.name)?.used ?? 0;
  const expired = tier.ttlMs !== null && call.nowMs >= call.state.startedAtMs + tier.ttlMs;
  if (used < tier.ceiling && !expired) return NOTHING;
  const detail = expired
    ? `The grant of tier \`${tier.name}\` is over.`
    : `All ${tier.ceiling} calls of tier \`${tier.name}\` are used up.`;
  if (tier.onExceeded !== null) return hold(call, tier.rule, tier.onExceeded, detail);
  return [
    finding({
      reason: "grant_exceeded",
      rule: expired ? `${tier.rule}.ttl_ms` : `${tier.rule}.ceiling`,
      disposition: "ask_user",
      detail,
    }),
  ];
}

function hold(
  call: CallContext,
  rule: string,
  terms: CompiledHold,
  detail: string | null,
): readonly Finding[] {
  if (call.approved) return NOTHING;
  return [
    finding({
      reason: "approval_required",
      rule,
      disposition: "wait",
      detail,
      hold: terms,
      resolution: "approval",
    }),
  ];
}
