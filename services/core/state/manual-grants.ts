/**
 * What verdicts granted or revoked: calls of a tier, or of one rule of a tool, beside what the
 * policy grants.
 */

import { type Trie, trieDelete, trieEntries, trieGet, trieSet } from "../../collections/trie.ts";
import type { VerdictRuled } from "../events.ts";
import { hasVisible } from "../hidden-text.ts";
import { LIMITS } from "../limits.ts";

export interface ManualGrant {
  /** Calls left; null: any number. */
  readonly calls: number | null;
  /** Until when (gate time, ms); null: as long as the conversation lasts. */
  readonly untilMs: number | null;
  /** Whether the policy's own grant is revoked, too. */
  readonly revoked: boolean;
  /** The approver. Nobody can grant calls to themselves. */
  readonly by: string;
  /** Whether the grant came with a reason. */
  readonly reasoned: boolean;
  /**
   * `n` of the state when the verdict came (CONVERSATION-3): calls allowed before it used up
   * another grant.
   */
  readonly sinceN: number;
}

/** A reason without a visible character is no reason. */
export function isBlank(reason: string | null): boolean {
  return reason === null || !hasVisible(reason);
}

/**
 * The key of a tier, or of a tool that was revoked as a whole. Calls are granted by rule
 * (`ruleKey`).
 */
export function manualGrantKey(what: "tier" | "tool", name: string): string {
  return `${what}:${name}`;
}

/**
 * Key of a grant for the calls of one tool that match one rule; the digest identifies the rule a
 * person was asked about.
 */
export function ruleKey(tool: string, ruleDigest: string): string {
  return `rule:${ruleDigest} ${tool}`;
}

type Subject = Pick<VerdictRuled, "tier" | "tool" | "ruleDigest">;

/** Key of a grant or revocation: the tier, the rule of the tool, or the whole tool. */
export function rulingKey({ tier, tool, ruleDigest }: Subject): string {
  if (tool === null) return manualGrantKey("tier", tier ?? "");
  return ruleDigest === null ? manualGrantKey("tool", tool) : ruleKey(tool, ruleDigest);
}

/** Whether a call is left. */
export function hasLeft(manualGrant: ManualGrant | undefined, nowMs: number): boolean {
  if (manualGrant === undefined || manualGrant.calls === 0) return false;
  return manualGrant.untilMs === null || nowMs < manualGrant.untilMs;
}

/** Whether calls of some rule of the tool were granted. */
export function hasManualGrantOf(manualGrants: Trie<ManualGrant>, tool: string): boolean {
  return ruleKeysOf(manualGrants, tool).length > 0;
}

function ruleKeysOf(manualGrants: Trie<ManualGrant>, tool: string): readonly string[] {
  const keys = [...trieEntries(manualGrants)].map(([key]) => key);
  return keys.filter((key) => key.startsWith("rule:") && key.slice(key.indexOf(" ") + 1) === tool);
}

/** Whether the key exists or there is room for one more. */
export function hasRoom(manualGrants: Trie<ManualGrant>, key: string): boolean {
  return manualGrants.size < LIMITS.counters || trieGet(manualGrants, key) !== undefined;
}

export function afterUse(manualGrants: Trie<ManualGrant>, key: string): Trie<ManualGrant> {
  const before = trieGet(manualGrants, key);
  if (before === undefined || before.calls === null) return manualGrants;
  return trieSet(manualGrants, key, { ...before, calls: Math.max(0, before.calls - 1) });
}

/** Gives a call back that was not executed; `allowedN`: `n` of the state when it was allowed. */
export function returnManualGrant(
  manualGrants: Trie<ManualGrant>,
  key: string,
  allowedN: number,
): Trie<ManualGrant> {
  const before = trieGet(manualGrants, key);
  if (before === undefined || before.calls === null) return manualGrants;
  if (allowedN <= before.sinceN) return manualGrants;
  return trieSet(manualGrants, key, { ...before, calls: before.calls + 1 });
}

/**
 * A later grant replaces an earlier one. `n`: when it comes. After a revocation a grant gives only
 * its own calls: the policy's own grant stays revoked. The revocation of a tool removes the grants
 * of each of its rules.
 */
export function afterRuling(
  manualGrants: Trie<ManualGrant>,
  ruling: VerdictRuled,
  n: number,
): Trie<ManualGrant> {
  const { kind, tier, tool, calls, untilMs, by } = ruling;
  if (tier === null && tool === null) return manualGrants;
  const key = rulingKey(ruling);
  const said = { by, reasoned: !isBlank(ruling.reason), sinceN: n };
  if (kind === "revoke") {
    let left = manualGrants;
    for (const one of tool === null ? [] : ruleKeysOf(manualGrants, tool))
      left = trieDelete(left, one);
    if (!hasRoom(left, key)) return left;
    return trieSet(left, key, { calls: 0, untilMs: null, revoked: true, ...said });
  }
  if (!hasRoom(manualGrants, key)) return manualGrants;
  const revoked = trieGet(manualGrants, key)?.revoked ?? false;
  return trieSet(manualGrants, key, { calls, untilMs, revoked, ...said });
}
