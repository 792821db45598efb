/** The facts of a call that `evolve` needs: resources, windows, counters. */
import { canonicalText } from "../canonical/canonical-text.ts";
import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import type { SchemaProblem } from "../capabilities.ts";
import type { CallContext } from "../checks/check.ts";
import type {
  CallFacts,
  CallMore,
  CountedBudget,
  ExclusiveEffect,
  PendingEffect,
  Sketch,
} from "../events.ts";
import type { Money, ProposalInput } from "../inputs.ts";
import { LIMITS } from "../limits.ts";
import { getArgument } from "../policy/argument-path.ts";
import { sketchKey } from "../policy/compile-similarity.ts";
import type {
  CompiledEffect,
  CompiledPolicy,
  CompiledTool,
  IdentityResult,
  ResourceGraph,
  Similarity,
} from "../policy/compiled.ts";
import { isListPath, namesOfElements, readListPath, valueAt } from "../policy/list-path.ts";
import { namesThing } from "../policy/segment.ts";
import { sketchOf } from "../similarity/sketch.ts";
import { nameByMaker } from "../state/made-by.ts";
import { makePriorKey } from "../state/prior-calls.ts";
import type { ConversationState } from "../state/state.ts";

type Identified = Extract<IdentityResult, { ok: true }>;

export interface Touched {
  /** Null: none is declared, or a placeholder has no value. */
  readonly resources: readonly string[] | null;
  readonly exclusive: readonly ExclusiveEffect[];
  /**
   * Arguments that exclusive effects need to name their resource, but that the call lacks, has
   * empty, or has too many of: the call is refused.
   */
  readonly unnamed: readonly SchemaProblem[];
  /** Effects whose resource the result will name; `resources` has those that the arguments name. */
  readonly pending: readonly PendingEffect[];
}

export const UNDECLARED: Touched = { resources: null, exclusive: [], unnamed: [], pending: [] };

export function touchedBy(
  tool: CompiledTool,
  identity: Identified,
  graph: ResourceGraph,
  state: ConversationState | undefined,
): Touched {
  if (tool.isRead) return touchedByRead(tool, identity);
  if (tool.effects.length === 0) return UNDECLARED;
  const into: Naming = { resources: [], exclusive: [], pending: [] };
  const unnamed: SchemaProblem[] = [];
  let declared = true;
  for (const effect of tool.effects) {
    const names = effect.resource(identity);
    if (names === null) {
      declared = false;
      if (effect.exclusive) unnamed.push(...missingOf(effect, identity));
    } else if (typeof names === "string") {
      addName(into, effect, names, graph, state);
    } else {
      for (const resource of names) addName(into, effect, resource, graph, state);
    }
  }
  return {
    resources: declared ? trimCapacity(into.resources) : null,
    exclusive: trimCapacity(into.exclusive),
    unnamed: trimCapacity(unnamed),
    pending: trimCapacity(into.pending),
  };
}

interface Naming {
  readonly resources: string[];
  readonly exclusive: ExclusiveEffect[];
  readonly pending: PendingEffect[];
}

function addName(
  into: Naming,
  { kind, rule, onFailure, exclusive, byResult, madeBy, tenantWide }: CompiledEffect,
  resource: string,
  graph: ResourceGraph,
  state: ConversationState | undefined,
): void {
  if (byResult) {
    into.pending.push({ resource, kind, exclusive, rule, onFailure });
    return;
  }
  into.resources.push(resource);
  if (!exclusive) return;
  const ancestors = listAncestors(graph, resource);
  into.exclusive.push({ resource, kind, rule, ancestors, onFailure, tenantWide });
  const made = madeBy === null ? null : nameByMaker(state, madeBy, resource);
  if (made === null) return;
  into.exclusive.push({
    resource: made,
    kind,
    rule,
    ancestors: NONE,
    onFailure,
    tenantWide: false,
  });
}

const NONE: readonly never[] = [];

/**
 * Drops the spare capacity that a list has after its first push: it is retained as long as its
 * call.
 */
function trimCapacity<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? NONE : list.slice();
}

function missingOf(
  { arguments: names }: CompiledEffect,
  { normalized }: Identified,
): readonly SchemaProblem[] {
  const missing = names.filter((name) => !hasName(normalized, name));
  if (missing.length > 0) return missing.map((name) => ({ path: `$.${name}`, message: MISSING }));
  return names.filter(isListPath).map((name) => ({ path: `$.${name}`, message: TOO_MANY }));
}

const MISSING = "is missing, and says what the call would change";
const TOO_MANY = `names more than ${LIMITS.resourcesPerCall} things: propose several calls with fewer each`;

/** Whether the call has the argument; of a path into a list, whether each element has it. */
function hasName(args: JsonObject, name: string): boolean {
  if (!isListPath(name)) return namesThing(getArgument(args, name));
  const { lists, rest } = readListPath(name);
  const one = (scopes: readonly JsonValue[]): string | null =>
    namesThing(valueAt(scopes.at(-1) as JsonValue, rest)) ? "one" : null;
  return namesOfElements(args, lists, one) !== null;
}

/** Ancestors of the resource by edges; null: its path alone has them. */
export function listAncestors(graph: ResourceGraph, resource: string): readonly string[] | null {
  return graph.hasEdges ? graph.listAncestors(resource) : null;
}

function touchedByRead(tool: CompiledTool, identity: Identified): Touched {
  if (tool.reads === null) return UNDECLARED;
  const resources: string[] = [];
  for (const template of tool.reads) {
    const resource = template(identity);
    if (resource === null) return UNDECLARED;
    if (typeof resource === "string") resources.push(resource);
    else resources.push(...resource);
  }
  return { resources: trimCapacity(resources), exclusive: NONE, unnamed: NONE, pending: NONE };
}

export function factsOf(
  tool: CompiledTool,
  policy: CompiledPolicy,
  touched: Touched,
  { actionKey, loopKey }: Pick<CallContext, "actionKey" | "loopKey">,
  proposal: Pick<ProposalInput, "turn" | "estimatedCost">,
  { sketches, budgets }: Pick<CallMore, "sketches" | "budgets">,
  nowMs: number,
): CallFacts {
  // A repeat of a read is answered from memory for its cache time; one of a write is a duplicate for
  // its window.
  const windowMs = tool.isRead ? tool.cacheMs : tool.windowMs;
  const key = isOfAgent(tool, touched) ? loopKey : actionKey;
  return {
    priorKey: makePriorKey(key, tool.scope, proposal.turn),
    resources: touched.resources,
    exclusive: touched.exclusive,
    windowUntilMs: nowMs + windowMs,
    dropAtMs: nowMs + computeRetentionMs(tool, policy, touched),
    recentCallsMax: policy.recentCallsMax,
    repeats: 0,
    rates: ratesOf(tool),
    grant: null,
    more: moreOf(
      policy.countsSpend ? proposal.estimatedCost : null,
      sketches,
      touched.pending,
      budgets,
      tool.asksUser,
    ),
  };
}

/**
 * Whether the call is compared with those of its agent alone: what another agent reads, or changes without a
 * declared effect, is no repeat of it. Declared effects are one for all agents.
 */
function isOfAgent(tool: CompiledTool, { resources, exclusive, pending }: Touched): boolean {
  const isDeclared = resources !== null || exclusive.length > 0 || pending.length > 0;
  return tool.isRead || !isDeclared;
}

/** How long the gate remembers the prior call and the resources that it wrote. */
function computeRetentionMs(
  tool: CompiledTool,
  policy: CompiledPolicy,
  { resources }: Touched,
): number {
  const { idleMs, maxAgeMs } = policy.conversation;
  if (tool.isRead) return idleMs;
  const repeatsMs = Math.max(policy.longestWindowMs, policy.idempotencyTtlMs);
  // Recent calls count whatever their age, and a forgotten write would excuse none of them. Writes
  // that name no resource are remembered as one entry, without an end.
  return resources === null ? repeatsMs : Math.max(repeatsMs, maxAgeMs);
}

/** Null for most calls. */
function moreOf(
  cost: Money | null,
  sketches: readonly Sketch[],
  pending: readonly PendingEffect[],
  budgets: readonly CountedBudget[],
  asksUser: boolean,
): CallMore | null {
  const lists = sketches.length + pending.length + budgets.length;
  if (cost === null && lists === 0 && !asksUser) return null;
  return { cost, manualGrant: null, pending, sketches, budgets, asksUser };
}

export const NO_SKETCHES: readonly Sketch[] = [];

/** A sketch of each field that the tool's `similarity` names and the call has. */
export function sketchesOf(tool: CompiledTool, { normalized }: Identified): readonly Sketch[] {
  if (tool.similarity.length === 0 || tool.modes.near_duplicate === "off") return NO_SKETCHES;
  const sketches: Sketch[] = [];
  for (let at = 0; at < tool.similarity.length; at += 1) {
    const declared = tool.similarity[at] as Similarity;
    const value = getArgument(normalized, declared.field);
    if (value === undefined || value === null) continue;
    const text = typeof value === "string" ? value : canonicalText(value);
    sketches.push({ key: keyOf(tool, declared, at, normalized), values: sketchOf(text) });
  }
  return sketches;
}

function keyOf(tool: CompiledTool, declared: Similarity, at: number, args: JsonObject): string {
  if (declared.with.length === 0) return declared.key;
  const equal = declared.with.map((path) => getArgument(args, path) ?? null);
  return sketchKey(at, tool.name, equal);
}

const NO_RATES: readonly never[] = [];

function ratesOf(tool: CompiledTool): CallFacts["rates"] {
  const { tier, limits, frequency } = tool;
  const limited = tier.action === "allowlist" && tier.rate !== null;
  if (!limited && frequency === null && limits.length === 0) return NO_RATES;
  const rates: { key: string; windowMs: number }[] = [];
  for (const { name, rate } of limited ? [tier, ...limits] : limits) {
    if (rate !== null) rates.push({ key: `tier:${name}`, windowMs: rate.windowMs });
  }
  if (frequency !== null) rates.push({ key: `tool:${tool.name}`, windowMs: frequency.windowMs });
  return rates;
}

/** Facts of a call that runs: how often it was repeated, and the grant that it uses up. */
export function runningFacts(call: CallContext, manualGrant: string | null): CallFacts {
  const { facts, priorCall } = call;
  const grant = manualGrant === null ? grantOf(call) : null;
  const repeats =
    priorCall !== undefined && priorCall.status === "succeeded" ? priorCall.repeats + 1 : 0;
  if (grant === null && repeats === 0 && manualGrant === null) return facts;
  const more = manualGrant === null ? facts.more : { ...(facts.more ?? NOTHING_MORE), manualGrant };
  return { ...facts, grant, repeats, more };
}

const NOTHING_MORE: CallMore = {
  cost: null,
  manualGrant: null,
  pending: [],
  sketches: [],
  budgets: [],
  asksUser: false,
};

function grantOf({ tool: { tier }, state, policy }: CallContext): CallFacts["grant"] {
  if (tier.action !== "grant") return null;
  const lastsMs = tier.ttlMs ?? policy.conversation.maxAgeMs;
  return { tier: tier.name, expiresAtMs: state.startedAtMs + lastsMs };
}
