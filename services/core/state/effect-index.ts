/**
 * Which resources with exclusive effects are contained in which ancestors: what a delete or transfer of a whole asks. And
 * what they look like: what tells soon that a resource has none.
 * Follows from the effects alone, so it stands in no snapshot.
 */
import {
  emptyTrie,
  type Trie,
  trieDelete,
  trieEntries,
  trieGet,
  trieSet,
} from "../../collections/trie.ts";
import type { EffectHolder } from "./effect-holder.ts";

export interface EffectIndex {
  /** By whole, the resources in it that are held, by themselves. */
  readonly parts: Trie<Trie<string>>;
  /** What the resources look like that were held since the index was made; null: too many ways to tell. */
  readonly shapes: readonly Shape[] | null;
}

/** How its path begins, up to the first slash, and how many of those it has. */
interface Shape {
  readonly start: string;
  readonly slashes: number;
}

const SHAPES_MAX = 16;

export const NO_EFFECTS: EffectIndex = { parts: emptyTrie(), shapes: [] };

/** False where the resource is surely not held: most that are asked for are not, by what they look like. */
export function mayStand({ shapes }: EffectIndex, resource: string): boolean {
  if (shapes === null) return true;
  for (const { start, slashes } of shapes) {
    if (resource.startsWith(start) && slashesIn(resource) === slashes) return true;
  }
  return false;
}

type Holders = readonly EffectHolder[] | undefined;

const NO_PARTS: Trie<string> = emptyTrie();

/** The index once a resource has other holders than before; undefined: it has none. */
export function reindexed(
  index: EffectIndex,
  resource: string,
  before: Holders,
  after: Holders,
): EffectIndex {
  if (before !== undefined && after !== undefined && areInOne(before, after)) return index;
  let { parts } = index;
  for (const whole of listAncestors(resource, before)) parts = without(parts, whole, resource);
  for (const whole of listAncestors(resource, after)) {
    parts = trieSet(parts, whole, trieSet(trieGet(parts, whole) ?? NO_PARTS, resource, resource));
  }
  return { parts, shapes: mayStand(index, resource) ? index.shapes : withShape(index, resource) };
}

function withShape({ shapes }: EffectIndex, resource: string): EffectIndex["shapes"] {
  if (shapes === null || shapes.length === SHAPES_MAX) return null;
  const slashes = slashesIn(resource);
  const start = slashes === 0 ? resource : resource.slice(0, resource.indexOf("/") + 1);
  return [...shapes, { start, slashes }];
}

function slashesIn(resource: string): number {
  let count = 0;
  for (let at = resource.indexOf("/"); at >= 0; at = resource.indexOf("/", at + 1)) count += 1;
  return count;
}

export function effectIndexOf(effects: Trie<readonly EffectHolder[]>): EffectIndex {
  let index = NO_EFFECTS;
  for (const [resource, holders] of trieEntries(effects)) {
    index = reindexed(index, resource, undefined, holders);
  }
  return index;
}

/** All ancestors of a path, nearest first. */
export function pathPrefixes(resource: string): string[] {
  const prefixes: string[] = [];
  for (let at = resource.lastIndexOf("/"); at > 0; at = resource.lastIndexOf("/", at - 1)) {
    prefixes.push(resource.slice(0, at));
  }
  return prefixes;
}

/** Whether all of them have the same ancestors. They have unless the edges of the policy changed. */
function areInOne(before: readonly EffectHolder[], after: readonly EffectHolder[]): boolean {
  const ancestors = after[0]?.ancestors ?? null;
  const isSame = (holder: EffectHolder): boolean => areEqual(holder.ancestors, ancestors);
  return before.every(isSame) && after.every(isSame);
}

function areEqual(a: readonly string[] | null, b: readonly string[] | null): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((whole, at) => whole === b[at]);
}

function listAncestors(resource: string, holders: Holders): ReadonlySet<string> {
  if (holders === undefined) return new Set();
  return new Set(holders.flatMap(({ ancestors }) => ancestors ?? pathPrefixes(resource)));
}

function without(all: EffectIndex["parts"], whole: string, resource: string): EffectIndex["parts"] {
  const parts = trieDelete(trieGet(all, whole) ?? NO_PARTS, resource);
  return parts.size === 0 ? trieDelete(all, whole) : trieSet(all, whole, parts);
}
