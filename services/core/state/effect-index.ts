/**
 * Which resources with exclusive effects lie in which wholes: what a delete or transfer of a whole asks.
 * Follows from the effects alone, so it stands in no snapshot.
 */
import {
  emptyTrie,
  type Trie,
  trieDelete,
  trieEntries,
  trieGet,
  trieSet,
} from "../persistent/trie.ts";
import type { EffectHolder } from "./effect-holder.ts";

/** By whole, the resources in it that are held, by themselves. */
export type EffectIndex = Trie<Trie<string>>;

type Holders = readonly EffectHolder[] | undefined;

const NO_PARTS: Trie<string> = emptyTrie();

/** The index once a resource has other holders than before; undefined: it has none. */
export function reindexed(
  index: EffectIndex,
  resource: string,
  before: Holders,
  after: Holders,
): EffectIndex {
  if (before !== undefined && after !== undefined && lieInOne(before, after)) return index;
  let next = index;
  for (const whole of wholesOf(resource, before)) next = without(next, whole, resource);
  for (const whole of wholesOf(resource, after)) {
    next = trieSet(next, whole, trieSet(trieGet(next, whole) ?? NO_PARTS, resource, resource));
  }
  return next;
}

export function effectIndexOf(effects: Trie<readonly EffectHolder[]>): EffectIndex {
  let index: EffectIndex = emptyTrie();
  for (const [resource, holders] of trieEntries(effects)) {
    index = reindexed(index, resource, undefined, holders);
  }
  return index;
}

/** Everything that a path lies in, nearest first. */
export function pathPrefixes(resource: string): string[] {
  const prefixes: string[] = [];
  for (let at = resource.lastIndexOf("/"); at > 0; at = resource.lastIndexOf("/", at - 1)) {
    prefixes.push(resource.slice(0, at));
  }
  return prefixes;
}

/** Do all of them lie in the same wholes? So they do unless the edges of the policy changed. */
function lieInOne(before: readonly EffectHolder[], after: readonly EffectHolder[]): boolean {
  const wholes = after[0]?.wholes ?? null;
  const isSame = (holder: EffectHolder): boolean => areEqual(holder.wholes, wholes);
  return before.every(isSame) && after.every(isSame);
}

function areEqual(a: readonly string[] | null, b: readonly string[] | null): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((whole, at) => whole === b[at]);
}

function wholesOf(resource: string, holders: Holders): ReadonlySet<string> {
  if (holders === undefined) return new Set();
  return new Set(holders.flatMap(({ wholes }) => wholes ?? pathPrefixes(resource)));
}

function without(index: EffectIndex, whole: string, resource: string): EffectIndex {
  const parts = trieDelete(trieGet(index, whole) ?? NO_PARTS, resource);
  return parts.size === 0 ? trieDelete(index, whole) : trieSet(index, whole, parts);
}
