/**
 * Claims: exclusive effects that reach over all conversations of a tenant (`scope: tenant`). The claim to a
 * resource is stored as a conversation of its own, with nothing but `effects`.
 *
 * REACH-1 an event has its claim whole: `evolve` needs neither the claim before it nor the conversation of the call.
 * REACH-2 a claim treats the calls of all conversations as one conversation would treat its own.
 * REACH-3 a claim ends no earlier than the conversation of its latest call can, and its hold does.
 */
import { emptyTrie, trieGet, trieSet } from "../../collections/trie.ts";
import type {
  CallAllowed,
  CallHeld,
  ClaimChanged,
  DecisionEvent,
  EffectHolder,
  ExclusiveEffect,
  GateEvent,
} from "../events.ts";
import { sha256Hex } from "../hash.ts";
import { LIMITS } from "../limits.ts";
import { type EffectReport, holdersAfter, untilSettled } from "./active-effects.ts";
import { hasLapsed } from "./deadline.ts";
import { findDoubt, findDoubtOf } from "./doubts.ts";
import { effectIndexOf } from "./effect-index.ts";
import { type OutcomeEvent, readReport } from "./outcome-report.ts";
import { type ConversationState, initialState, type OpenCall } from "./state.ts";

/** Reads the claim with this id as it is now; undefined: there is none. */
export type ReadClaim = (tenantId: string, claimId: string) => ConversationState | undefined;

/** A control character, which ids do not have: no conversation has the id of a claim. */
const MARK = "\u001f";
const MARK_UNIT = 0x1f;

/** Kept as a function for loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

export function claimIdOf(resource: string): string {
  return `${MARK}claim-${sha256Hex("callgate.claim/1", resource)}`;
}

export function isClaimId(conversationId: string): boolean {
  return charCodeAt.call(conversationId, 0) === MARK_UNIT;
}

/** Whether the key of a conversation (`conversationKey`) is that of a claim. */
export function isClaimKey(key: string): boolean {
  return key.includes(MARK);
}

/** Who holds the resource at this gate time of proposals, the latest first. */
export function readHolders(
  claim: ConversationState | undefined,
  resource: string,
  proposalsAtMs: number,
): readonly EffectHolder[] {
  if (claim === undefined || hasLapsed(claim, proposalsAtMs)) return NOBODY;
  return trieGet(claim.effects, resource) ?? NOBODY;
}

const NOBODY: readonly EffectHolder[] = [];

/** REACH-1 */
export function evolveClaim(
  before: ConversationState | undefined,
  { tenantId, conversationId, resource, holders, atMs, dropAtMs }: ClaimChanged,
): ConversationState | undefined {
  // Whoever follows one conversation alone sees the claims of its calls as well.
  if (before !== undefined && before.conversationId !== conversationId) return before;
  const none: ConversationState["effects"] = emptyTrie();
  const effects = holders.length === 0 ? none : trieSet(none, resource, holders);
  const state = initialState(tenantId, conversationId, atMs);
  return { ...state, dropAtMs, effects, effectIndex: effectIndexOf(effects) };
}

/**
 * What the events of one conversation make of claims.
 * @param before the conversation before the events.
 * @param keepMs how long a claim lasts at least, ms: `conversation.max_age`.
 */
export function changeClaims(
  before: ConversationState | undefined,
  events: readonly GateEvent[],
  read: ReadClaim,
  keepMs: number,
): readonly ClaimChanged[] {
  const changes = new ClaimChanges(read, keepMs);
  for (const event of events) {
    switch (event.type) {
      case "allowed":
      case "held":
      case "refused":
        changes.decide(before, event);
        break;
      case "result_recorded":
      case "outcome_unknown":
      case "reconciled":
        if (before !== undefined) changes.settle(before, event);
        break;
      case "repeated":
      case "ruled":
      case "claimed":
      case "ignored":
        break;
    }
  }
  return changes.list();
}

/**
 * Reads claims as the events leave them that are in the list by then: those of one tick are applied
 * together, and several may change one claim.
 */
export function readAfter(events: readonly GateEvent[], read: ReadClaim): ReadClaim {
  return (tenantId, claimId) => {
    for (let at = events.length - 1; at >= 0; at -= 1) {
      const event = events[at];
      if (event?.type !== "claimed" || event.conversationId !== claimId) continue;
      if (event.tenantId === tenantId) return evolveClaim(undefined, event);
    }
    return read(tenantId, claimId);
  };
}

interface Claim {
  readonly before: readonly EffectHolder[];
  readonly holders: readonly EffectHolder[];
  readonly tenantId: string;
  readonly resource: string;
  readonly decisionId: string;
  readonly atMs: number;
  readonly dropAtMs: number;
}

class ClaimChanges {
  readonly #read: ReadClaim;
  readonly #keepMs: number;
  readonly #claims = new Map<string, Claim>();

  constructor(read: ReadClaim, keepMs: number) {
    this.#read = read;
    this.#keepMs = keepMs;
  }

  decide(before: ConversationState | undefined, event: DecisionEvent): void {
    const { decisionId, times } = event;
    const atMs = times.proposalsAtMs;
    const held = before === undefined ? undefined : trieGet(before.open, decisionId);
    for (const effect of held?.held?.facts.exclusive ?? []) {
      this.#change(event, effect, atMs, (holders) => without(holders, decisionId));
    }
    if (event.type === "refused") return;
    const n = (before?.n ?? 0) + (event.type === "allowed" ? 1 : 0);
    const holdsUntilMs = event.type === "held" ? event.expiresAtMs + LIMITS.lateTickMs : 0;
    const dropAtMs = Math.max(atMs + this.#keepMs, holdsUntilMs);
    for (const effect of event.facts.exclusive) {
      const holder = makeHolder(event, effect, n);
      this.#change(event, effect, atMs, (holders) => withHolder(holders, holder), dropAtMs);
    }
  }

  settle(before: ConversationState, event: OutcomeEvent): void {
    if (event.type === "result_recorded" && event.status === "started") return;
    const open = trieGet(before.open, event.decisionId) ?? findDoubt(before, event.decisionId);
    if (open === undefined) return;
    const report = readReport(event, open);
    this.#report(before, event, open, report);
    if (report.status === "succeeded" || !report.endsDoubt) return;
    const doubt = findDoubtOf(before, open.actionKey);
    if (doubt !== undefined) this.#report(before, event, doubt, report);
  }

  #report(
    { lastAtMs, tenantId }: ConversationState,
    { decisionId }: OutcomeEvent,
    open: OpenCall,
    report: EffectReport,
  ): void {
    for (const effect of open.call.exclusive) {
      this.#change({ tenantId, decisionId }, effect, lastAtMs, (holders) => {
        const isHeld = ({ status }: EffectHolder): boolean => status === "held";
        if (!holders.some((holder) => holder.decisionId === open.decisionId)) return holders;
        const others = holders.filter((holder) => !isHeld(holder));
        return [...holders.filter(isHeld), ...holdersAfter(others, open, report)];
      });
    }
  }

  #change(
    { tenantId, decisionId }: Pick<DecisionEvent, "tenantId" | "decisionId">,
    { resource, tenantWide }: ExclusiveEffect,
    atMs: number,
    change: (holders: readonly EffectHolder[]) => readonly EffectHolder[],
    untilMs = 0,
  ): void {
    if (!tenantWide) return;
    const claimId = claimIdOf(resource);
    const claim = this.#claims.get(claimId) ?? this.#find(tenantId, claimId, resource, atMs);
    const holders = change(claim.holders);
    const dropAtMs = Math.max(claim.dropAtMs, untilMs);
    this.#claims.set(claimId, { ...claim, holders, decisionId, atMs, dropAtMs });
  }

  #find(tenantId: string, claimId: string, resource: string, atMs: number): Claim {
    const state = this.#read(tenantId, claimId);
    const holders = readHolders(state, resource, atMs);
    const dropAtMs = state === undefined || holders.length === 0 ? 0 : state.dropAtMs;
    return { before: holders, holders, tenantId, resource, decisionId: "", atMs, dropAtMs };
  }

  list(): readonly ClaimChanged[] {
    const changed = [...this.#claims].filter(
      ([, { before, holders }]) => !areSame(before, holders),
    );
    return changed.map(([conversationId, claim]) => ({
      type: "claimed",
      tenantId: claim.tenantId,
      conversationId,
      resource: claim.resource,
      holders: claim.holders,
      decisionId: claim.decisionId,
      atMs: claim.atMs,
      dropAtMs: claim.holders.length === 0 ? claim.atMs : claim.dropAtMs,
    }));
  }
}

function areSame(one: readonly EffectHolder[], other: readonly EffectHolder[]): boolean {
  return one.length === other.length && one.every((holder, at) => holder === other[at]);
}

function makeHolder(
  event: CallAllowed | CallHeld,
  { kind, ancestors, onFailure }: ExclusiveEffect,
  n: number,
): EffectHolder {
  return {
    decisionId: event.decisionId,
    callId: event.call.callId,
    tool: event.call.tool,
    kind,
    actionKey: event.arguments.actionKey,
    n,
    atMs: event.times.proposalsAtMs,
    status: event.type === "held" ? "held" : "in_flight",
    ancestors,
    onFailure,
    claimant: event.conversationId,
  };
}

function without(holders: readonly EffectHolder[], decisionId: string): readonly EffectHolder[] {
  const left = holders.filter((holder) => holder.decisionId !== decisionId);
  return left.length === holders.length ? holders : left;
}

/** Held calls come first: a call that succeeds does not replace them. */
function withHolder(
  holders: readonly EffectHolder[],
  holder: EffectHolder,
): readonly EffectHolder[] {
  const isHeld = ({ status }: EffectHolder): boolean => status === "held";
  const held = holders.filter(isHeld);
  const others = holders.filter((other) => !isHeld(other));
  if (isHeld(holder)) return [holder, ...held].slice(0, LIMITS.effectHolders).concat(others);
  return [...held, holder, ...untilSettled(others)];
}
