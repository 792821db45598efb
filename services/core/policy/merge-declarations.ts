/** Merges what two parts of a call declare: whatever either may touch, the whole call may touch. */
import type { CompiledEffect, CompiledTier, CompiledTool } from "./compiled.ts";

type Declarations = Pick<
  CompiledTool,
  | "effects"
  | "reads"
  | "volatile"
  | "polling"
  | "batchable"
  | "namesNoObject"
  | "scope"
  | "windowMs"
  | "cacheMs"
  | "limits"
>;

/**
 * The effect of a part that declares nothing: its resource has no name, so that the call may touch
 * anything.
 */
const ANYTHING: CompiledEffect = {
  kind: "write",
  exclusive: false,
  onFailure: "warn",
  rule: "",
  resource: () => null,
  arguments: [],
  byResult: false,
  madeBy: null,
  tenantWide: false,
};

/**
 * `base`: the part that the merged tool starts from, a write where one of them is; `tier`: the tier
 * of the merged tool.
 */
export function declaredByBoth(
  base: CompiledTool,
  other: CompiledTool,
  tier: CompiledTier,
): Declarations {
  const limits = limitsOf(base, other, tier);
  // A read beside a write changes nothing of what the whole writes.
  if (base.isRead !== other.isRead) return { ...base, limits };
  return {
    effects: effectsOf(base.effects, other.effects),
    reads: readsOf(base.reads, other.reads),
    volatile: base.volatile || (base.isRead && other.volatile),
    polling: other.polling === null ? null : base.polling,
    batchable: base.batchable && other.batchable,
    namesNoObject: base.namesNoObject && other.namesNoObject,
    scope: base.scope === "conversation" ? base.scope : other.scope,
    windowMs: Math.max(base.windowMs, other.windowMs),
    cacheMs: Math.min(base.cacheMs, other.cacheMs),
    limits,
  };
}

function effectsOf(
  base: readonly CompiledEffect[],
  other: readonly CompiledEffect[],
): readonly CompiledEffect[] {
  if (base === other || (base.length === 0 && other.length === 0)) return base;
  return union(base.length === 0 ? [ANYTHING] : base, other.length === 0 ? [ANYTHING] : other);
}

function readsOf(base: CompiledTool["reads"], other: CompiledTool["reads"]): CompiledTool["reads"] {
  return base === null || other === null ? null : union(base, other);
}

/** Allowlist tiers with a rate among the parts, except the tier of the merged tool. */
function limitsOf(
  base: CompiledTool,
  other: CompiledTool,
  tier: CompiledTier,
): CompiledTool["limits"] {
  const among = [base, other].flatMap((tool) => [...tool.limits, ...limited(tool.tier)]);
  const limits = union(among, []).filter(({ name }) => name !== tier.name);
  return limits.length === 0 ? base.limits : limits;
}

function limited(tier: CompiledTier): CompiledTool["limits"] {
  return tier.action === "allowlist" && tier.rate !== null ? [tier] : [];
}

/** Returns the first list itself where the second adds nothing. */
function union<T>(first: readonly T[], second: readonly T[]): readonly T[] {
  const all = [...new Set([...first, ...second])];
  return all.length === first.length ? first : all;
}
