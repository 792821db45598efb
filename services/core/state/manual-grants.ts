/** What verdicts gave or took: calls of a tier, or of one rule of a tool, beside what the policy grants. */

import { type Trie, trieDelete, trieEntries, trieGet, trieSet } from "../../collections/trie.ts";
import type { VerdictRuled } from "../events.ts";
import { hasVisible } from "../hidden-text.ts";
import { LIMITS } from "../limits.ts";

export interface ManualGrant {
  /** Calls left; null: any number. */
  readonly calls: number | null;
  /** Until when (gate time, ms); null: as long as the conversation lasts. */
  readonly untilMs: number | null;
  /** What the policy grants is taken away too. */
  readonly revoked: boolean;
  /** Who gave it: never to themselves. */
  readonly by: string;
  /** It came with a reason. */
  readonly reasoned: boolean;
  /** When the verdict came (CONVERSATION-3): calls allowed before it used up another grant. */
  readonly sinceN: number;
}

/** A reason in which nothing can be seen is none. */
export function isBlank(reason: string | null): boolean {
  return reason === null || !hasVisible(reason);
}

/** A tool's key says that it was revoked; calls are given of its rules (`ruleKey`). */
export function manualGrantKey(what: "tier" | "tool", name: string): string {
  return `${what}:${name}`;
}

/** Of the calls of one tool that come under one rule, by the digest of what a person was asked about. */
export function ruleKey(tool: string, ruleDigest: string): string {
  return `rule:${ruleDigest} ${tool}`;
}

type Subject = Pick<VerdictRuled, "tier" | "tool" | "ruleDigest">;

/** What a grant or revocation is kept under: the tier, the rule of the tool, or all of the tool. */
export function rulingKey({ tier, tool, ruleDigest }: Subject): string {
  if (tool === null) return manualGrantKey("tier", tier ?? "");
  return ruleDigest === null ? manualGrantKey("tool", tool) : ruleKey(tool, ruleDigest);
}

/** Is there a call left? */
export function hasLeft(manualGrant: ManualGrant | undefined, nowMs: number): boolean {
  if (manualGrant === undefined || manualGrant.calls === 0) return false;
  return manualGrant.untilMs === null || nowMs < manualGrant.untilMs;
}

/** Calls of some rule of the tool were given. */
export function hasManualGrantOf(manualGrants: Trie<ManualGrant>, tool: string): boolean {
  return ruleKeysOf(manualGrants, tool).length > 0;
}

function ruleKeysOf(manualGrants: Trie<ManualGrant>, tool: string): readonly string[] {
  const keys = [...trieEntries(manualGrants)].map(([key]) => key);
  return keys.filter((key) => key.startsWith("rule:") && key.slice(key.indexOf(" ") + 1) === tool);
}

/** Room for one more key, or the key is there. */
export function hasRoom(manualGrants: Trie<ManualGrant>, key: string): boolean {
  return manualGrants.size < LIMITS.counters || trieGet(manualGrants, key) !== undefined;
}

export function afterUse(manualGrants: Trie<ManualGrant>, key: string): Trie<ManualGrant> {
  const before = trieGet(manualGrants, key);
  if (before === undefined || before.calls === null) return manualGrants;
  return trieSet(manualGrants, key, { ...before, calls: Math.max(0, before.calls - 1) });
}

/** A call that was not executed; `allowedN`: when it was allowed. */
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
 * A later grant takes the place of an earlier one. `n`: when it comes. After a revocation it gives what it says and no
 * more: what the policy grants stays taken away. A tool that is revoked loses what was given of each of its rules.
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
