/** Merges the variants that the parts of a call choose into one tool, as strict as each of them. */
import { sha256Hex } from "../hash.ts";
import { type Mode, REASON_CODES, type ReasonCode } from "../reasons/reasons.ts";
import { STRICTNESS } from "./compile-tiers.ts";
import type { CompiledTier, CompiledTool } from "./compiled.ts";
import { declaredByBoth } from "./merge-declarations.ts";

/** One variant, and how strict it is among variants of the same call. */
export interface Ranked {
  readonly tool: CompiledTool;
  readonly rank: number;
}

const CLASS_RANK = { read: 0, watch: 1, run: 2, write: 3 } as const;
const MODE_RANK: Readonly<Record<Mode, number>> = { off: 0, shadow: 1, warn: 2, enforce: 3 };

/** The number of merged tools to remember; others are merged anew each time. */
const REMEMBERED = 1024;

/** The tier counts first, then the class. */
export function ranked(tool: CompiledTool): Ranked {
  const rank =
    STRICTNESS[tool.tier.action] * Object.keys(CLASS_RANK).length + CLASS_RANK[classOf(tool)];
  return { tool, rank };
}

function classOf({ isRead, volatile, repeatable }: CompiledTool): keyof typeof CLASS_RANK {
  if (isRead) return volatile ? "watch" : "read";
  return repeatable ? "run" : "write";
}

/** Returns a merger that remembers its results: calls of one kind get the same tool object. */
export function merger(): (parts: readonly Ranked[]) => CompiledTool {
  let made = new Map<CompiledTool, Map<CompiledTool, Ranked>>();
  let count = 0;
  const both = (a: Ranked, b: Ranked): Ranked => {
    if (a.tool === b.tool) return a;
    const cached = made.get(a.tool)?.get(b.tool);
    if (cached !== undefined) return cached;
    if (count >= REMEMBERED) {
      made = new Map();
      count = 0;
    }
    const combined = merged(a, b);
    const others = made.get(a.tool) ?? new Map<CompiledTool, Ranked>();
    made.set(a.tool, others.set(b.tool, combined));
    count += 1;
    return combined;
  };
  return (parts) => parts.reduce(both).tool;
}

/**
 * The stricter by tier. Where that one reads and the other writes, the result is the other under
 * the tier of the first; what one part may not repeat, the whole call may not. Tiers of one kind
 * and modes are merged.
 */
function merged(a: Ranked, b: Ranked): Ranked {
  const [{ tool: strict }, { tool: lax }] = b.rank > a.rank ? [b, a] : [a, b];
  const tier = strictest(strict.tier, lax.tier);
  const modes = strictestModes(strict.modes, lax.modes);
  const isLess = CLASS_RANK[classOf(lax)] > CLASS_RANK[classOf(strict)];
  const strictBase = isLess ? { ...strict, repeatable: false } : strict;
  const base = isLess && strict.isRead ? lax : strictBase;
  const declared = declaredByBoth(base, base === lax ? strict : lax, tier);
  const digests = strict.tier.action === lax.tier.action ? [strict, lax] : [strict];
  const whole = { ...base, ...declared, tier, modes, ruleDigest: digestOf(digests) };
  return ranked(isSame(whole, strict) ? strict : whole);
}

/** Whether both have one digest, too: the approval of one rule is not the approval of two. */
function isSame(whole: CompiledTool, strict: CompiledTool): boolean {
  const keys = Object.keys(whole) as (keyof CompiledTool)[];
  return keys.every((key) => whole[key] === strict[key]);
}

/** An approval covers all rules that its call was held for. */
function digestOf(tools: readonly CompiledTool[]): string {
  const [first = "", ...others] = [...new Set(tools.map(({ ruleDigest }) => ruleDigest))].sort();
  return others.length === 0 ? first : sha256Hex("callgate.rules.v1", [first, ...others].join(" "));
}

/** The first tier, if it is not laxer in anything. */
function strictest(a: CompiledTier, b: CompiledTier): CompiledTier {
  if (a === b) return a;
  if (a.action === "hitl" && b.action === "hitl") return heldByBoth(a, b);
  if (a.action === "grant" && b.action === "grant") return apart(a, b);
  const isLimited = a.action === "allowlist" && b.action === "allowlist" && a.rate === null;
  return isLimited ? b : a;
}

type HitlTier = Extract<CompiledTier, { action: "hitl" }>;
type GrantTier = Extract<CompiledTier, { action: "grant" }>;

/** Without a name where the two names differ: a grant for one tier is no grant for the other. */
function heldByBoth(a: HitlTier, b: HitlTier): HitlTier {
  const hold = {
    expiresMs: Math.min(a.hold.expiresMs, b.hold.expiresMs),
    requireReason: a.hold.requireReason || b.hold.requireReason,
    approvals: Math.max(a.hold.approvals, b.hold.approvals),
  };
  const { rule } = b.hold.approvals > a.hold.approvals ? b : a;
  return { action: "hitl", name: a.name === b.name ? a.name : null, rule, hold };
}

/** A call uses up one grant: where its parts have two, neither applies. */
function apart(a: GrantTier, b: GrantTier): GrantTier {
  const [strict, lax] = isStricterGrant(b, a) ? [b, a] : [a, b];
  if (strict.name === lax.name) return strict;
  return { ...strict, apartFrom: lax.name };
}

/**
 * Tiers whose calls only people grant come before those that the policy grants; then those that
 * refuse beyond the ceiling; then those with fewer calls.
 */
function isStricterGrant(a: GrantTier, b: GrantTier): boolean {
  if (a.grantedBy !== b.grantedBy) return a.grantedBy === "verdict";
  if ((a.onExceeded === null) !== (b.onExceeded === null)) return a.onExceeded === null;
  return a.ceiling < b.ceiling;
}

/** The first modes, if they are nowhere laxer. */
function strictestModes(a: CompiledTool["modes"], b: CompiledTool["modes"]): CompiledTool["modes"] {
  if (a === b || REASON_CODES.every((code) => MODE_RANK[a[code]] >= MODE_RANK[b[code]])) return a;
  const modes = { ...a } as Record<ReasonCode, Mode>;
  for (const code of REASON_CODES)
    if (MODE_RANK[b[code]] > MODE_RANK[a[code]]) modes[code] = b[code];
  return modes;
}
