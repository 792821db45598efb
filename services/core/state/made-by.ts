/**
 * Effects on a thing that an earlier call made (`of: create_draft`): two things that equal calls made are one for the
 * effect, although their ids differ.
 *
 * The name is that of the maker's call in place of the resource that its result named. It exists only while that call
 * of this conversation is remembered as the maker, and nothing else wrote the thing since: a draft that was edited is
 * no longer what the call made.
 */
import { ledgerGet } from "../../collections/ledger.ts";
import { trieGet } from "../../collections/trie.ts";
import type { EffectHolder } from "../events.ts";
import { pathPrefixes } from "./effect-index.ts";
import type { ConversationState } from "./state.ts";

/** No resource of a template begins so: an argument's `%` is written `%25`. */
const PREFIX = "%made-by/";

/** The call that made a thing, and the resource that its result named. */
export interface Maker {
  readonly holder: EffectHolder;
  readonly thing: string;
}

/** Whether a resource has the name of the call that made it. */
export function hasMakerName(resource: string): boolean {
  return resource.startsWith(PREFIX);
}

/** `resource`: as the arguments name it; null: no call of that tool in this conversation made what it is in. */
export function nameByMaker(
  state: ConversationState | undefined,
  tool: string,
  resource: string,
): string | null {
  const maker = findMaker(state, tool, resource);
  if (maker === null) return null;
  return `${PREFIX}${maker.holder.actionKey}${resource.slice(maker.thing.length)}`;
}

/** The latest call of the tool whose result named the resource, or an ancestor by its path. */
export function findMaker(
  state: ConversationState | undefined,
  tool: string,
  resource: string,
): Maker | null {
  if (state === undefined || state.effects.size === 0) return null;
  for (const thing of [resource, ...pathPrefixes(resource)]) {
    const holder = trieGet(state.effects, thing)?.find((one) => one.tool === tool);
    if (holder === undefined) continue;
    return wasEdited(state, thing, holder) ? null : { holder, thing };
  }
  return null;
}

function wasEdited(
  { writes, lastAtMs }: ConversationState,
  thing: string,
  { actionKey }: EffectHolder,
): boolean {
  const latest = ledgerGet(writes.byResource, thing, lastAtMs)?.latest ?? null;
  return latest !== null && latest.actionKey !== actionKey;
}
