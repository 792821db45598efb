/**
 * Index of resources with exclusive effects by their ancestors, for a delete or transfer of an
 * ancestor, and of their shapes, which show quickly that a resource has no effect. The effects
 * alone determine the index, so no snapshot contains it.
 */
import {
  emptyTrie,
  type Trie,
  trieDelete,
  trieEntries,
  trieGet,
  trieSet,
} from "../../collections/trie.ts";
import type { EffectHolder } from "../events.ts";

export interface EffectIndex {
  /** For each ancestor, the held resources contained in it, by themselves. */
  readonly parts: Trie<Trie<string>>;
  /**
   * Shapes of the resources that were held since the index was made; null: too many shapes to
   * compare.
   */
  readonly shapes: readonly Shape[] | null;
}

/** The beginning of a path, up to the first slash, and the number of its slashes. */
interface Shape {
  readonly start: string;
  readonly slashes: number;
}

const SHAPES_MAX = 16;

export const NO_EFFECTS: EffectIndex = { parts: emptyTrie(), shapes: [] };

/** False where the resource is certainly not held. The shapes show that for most resources. */
export function mayStand({ shapes }: EffectIndex, resource: string): boolean {
  if (shapes === null) return true;
  for (const { start, slashes } of shapes) {
    if (resource.startsWith(start) && slashesIn(resource) === slashes) return true;
  }
  return false;
}

type Holders = readonly EffectHolder[] | undefined;

const NO_PARTS: Trie<string> = emptyTrie();

/** The index after the holders of a resource changed; undefined: it has none. */
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

/** Every ancestor of a path by its prefixes, nearest first. */
export function pathPrefixes(resource: string): string[] {
  const prefixes: string[] = [];
  for (let at = resource.lastIndexOf("/"); at > 0; at = resource.lastIndexOf("/", at - 1)) {
    prefixes.push(resource.slice(0, at));
  }
  return prefixes;
}

/**
 * Whether all holders have the same ancestors, as they do unless the edges of the policy changed.
 */
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
