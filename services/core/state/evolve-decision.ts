/** State after a decision. */
import type {
  CallAllowed,
  CallFacts,
  CallHeld,
  CallRefused,
  DecisionBase,
  DecisionEvent,
  Evicted,
  Strike,
} from "../events.ts";
import { LIMITS } from "../limits.ts";
import { ledgerDelete, ledgerGet, ledgerPurge, ledgerPut } from "../persistent/ledger.ts";
import { trieDelete, trieGet, trieSet } from "../persistent/trie.ts";
import { callNameOf, decisionBytes, staysNamed } from "./names.ts";
import {
  type ConversationState,
  initialState,
  NO_FLAGS,
  type OpenCall,
  type RingEntry,
  type Twin,
} from "./state.ts";
import { enterTurn, opensStep } from "./turn.ts";

export function evolveDecision(
  before: ConversationState | undefined,
  event: DecisionEvent,
): ConversationState {
  const state = named(admitted(before, event), event);
  switch (event.type) {
    case "allowed":
      return afterAllowed(state, event);
    case "held":
      return afterHeld(state, event);
    case "refused":
      return afterRefused(state, event);
  }
}

/** The conversation with the call's turn entered, its room made and its hold ended. */
function admitted(before: ConversationState | undefined, event: DecisionEvent): ConversationState {
  const { proposalsAtMs: at } = event;
  const known =
    before === undefined || event.fresh
      ? initialState(event.tenantId, event.conversationId, at)
      : before;
  const timed: ConversationState = {
    ...known,
    lastAtMs: Math.max(known.lastAtMs, at),
    dropAtMs: event.stateDropAtMs,
  };
  const entered = event.entersTurn ? enterTurn(timed, event.turn, at) : timed;
  const roomy = event.evicted === null ? entered : without(entered, event.evicted);
  const confirmed =
    event.confirmation === null
      ? roomy
      : {
          ...roomy,
          confirmations: trieSet(roomy.confirmations, event.confirmation, event.actionKey),
        };
  return event.approvalId === null ? confirmed : holdEnded(confirmed, event);
}

export function without(state: ConversationState, evicted: Evicted): ConversationState {
  let { readTwins, writeTwins, loose } = state;
  let { byResource } = state.writes;
  for (const key of evicted.reads) readTwins = ledgerDelete(readTwins, key);
  for (const key of evicted.names) loose = ledgerDelete(loose, key);
  for (const key of evicted.writes) writeTwins = ledgerDelete(writeTwins, key);
  for (const key of evicted.resources) byResource = ledgerDelete(byResource, key);
  return { ...state, readTwins, writeTwins, loose, writes: { ...state.writes, byResource } };
}

/** A hold that did not lead to an allowed call gives its reservation back. */
function holdEnded(state: ConversationState, event: DecisionEvent): ConversationState {
  const held = trieGet(state.open, event.decisionId);
  if (held === undefined) return state;
  const open = trieDelete(state.open, event.decisionId);
  return released({ ...state, open }, held);
}

/** The call's reservation in the counters is given back. */
export function released(state: ConversationState, call: OpenCall): ConversationState {
  const sameTurn = call.turnIndex === state.turn.index;
  const tool = trieGet(state.tools, call.tool);
  const tools =
    tool === undefined || tool.turnIndex !== call.turnIndex
      ? state.tools
      : trieSet(state.tools, call.tool, { ...tool, turnCalls: Math.max(0, tool.turnCalls - 1) });
  return {
    ...state,
    tools,
    totals: { ...state.totals, calls: Math.max(0, state.totals.calls - 1) },
    turn: sameTurn ? { ...state.turn, calls: Math.max(0, state.turn.calls - 1) } : state.turn,
  };
}

function named(state: ConversationState, event: DecisionEvent): ConversationState {
  if (event.type === "refused" && event.refusal.reason === "call_id_conflict") return state;
  const name = callNameOf(event.turn, event.step, event.callId);
  const at = event.proposalsAtMs;
  const bytes = decisionBytes(event);
  const value = { decision: event };
  if (staysNamed(event)) {
    const kept = ledgerPut(ledgerPurge(state.kept, at), name, value, event.nameDropAtMs, bytes);
    return { ...state, kept, loose: ledgerDelete(state.loose, name) };
  }
  const loose = ledgerPut(ledgerPurge(state.loose, at), name, value, event.nameDropAtMs, bytes);
  return { ...state, kept: ledgerDelete(state.kept, name), loose };
}

function afterAllowed(before: ConversationState, event: CallAllowed): ConversationState {
  const state = reserved(before, event);
  const n = state.n + 1;
  const next: ConversationState = {
    ...withTwin(state, event, n),
    n,
    open: trieSet(state.open, event.decisionId, openCall(event, event.call, n, state)),
    ring: pushed(state.ring, ringEntry(event, n, state), event.call.ringSize),
    flags:
      state.flags.acknowledge === null || state.flags.acknowledge === event.actionKey
        ? state.flags
        : { ...state.flags, acknowledge: null },
  };
  return counted(withEffects(next, event), event.call, event.proposalsAtMs);
}

/** Counts the call and its step; what a result of `not_executed` gives back again. */
function reserved(state: ConversationState, event: CallAllowed | CallHeld): ConversationState {
  const { turn, totals, tools } = state;
  // A call that was held has counted its step when it was held.
  const first = event.approvalId === null;
  const newStep = first && opensStep(event.step, turn.lastStep) ? 1 : 0;
  const tool = trieGet(tools, event.tool);
  const inTurn = tool !== undefined && tool.turnIndex === turn.index ? tool : undefined;
  return {
    ...state,
    turn: {
      ...turn,
      calls: turn.calls + 1,
      steps: turn.steps + newStep,
      lastStep: event.step,
    },
    totals: { calls: totals.calls + 1, steps: totals.steps + newStep },
    tools:
      tool === undefined && tools.size >= LIMITS.counters
        ? tools
        : trieSet(tools, event.tool, {
            turnIndex: turn.index,
            turnCalls: (inTurn?.turnCalls ?? 0) + 1,
            turnSteps:
              (inTurn?.turnSteps ?? 0) +
              (first && opensStep(event.step, inTurn?.lastStep ?? null) ? 1 : 0),
            lastStep: event.step,
          }),
  };
}

function withTwin(state: ConversationState, event: CallAllowed, n: number): ConversationState {
  const { call, proposalsAtMs: at } = event;
  const ledger = ledgerPurge(event.isRead ? state.readTwins : state.writeTwins, at);
  const before = ledgerGet(ledger, call.twinKey, at);
  const twin: Twin = {
    decisionId: event.decisionId,
    callId: event.callId,
    tool: event.tool,
    n,
    atMs: at,
    turn: event.turn,
    step: event.step,
    status: "in_flight",
    windowUntilMs: call.windowUntilMs,
    occurrence: event.occurrence,
    repeats: call.repeats,
    output: null,
    outputDigest: null,
    outputBytes: 0,
    whole: false,
    errorMessage: null,
    transient: false,
    lastDigest: before?.lastDigest ?? null,
    sameOutputs: before?.sameOutputs ?? 0,
  };
  const put = ledgerPut(ledger, call.twinKey, twin, call.dropAtMs, 0);
  return event.isRead ? { ...state, readTwins: put } : { ...state, writeTwins: put };
}

function openCall(
  event: CallAllowed | CallHeld,
  call: CallFacts,
  n: number,
  state: ConversationState,
): OpenCall {
  const held = event.type === "held";
  return {
    decisionId: event.decisionId,
    callId: event.callId,
    tool: event.tool,
    agentId: event.agentId,
    actionKey: event.actionKey,
    status: held ? "held" : "in_flight",
    isRead: event.isRead,
    n,
    atMs: event.proposalsAtMs,
    turnIndex: state.turn.index,
    call,
    deadlineMs: held ? event.expiresAtMs : event.notAfterMs + event.timeLimitMs,
    started: false,
    held: held ? event : null,
  };
}

function ringEntry(event: DecisionBase, n: number, state: ConversationState): RingEntry {
  return {
    n,
    decisionId: event.decisionId,
    actionKey: event.actionKey,
    tool: event.tool,
    atMs: event.proposalsAtMs,
    turnIndex: state.turn.index,
    isRead: event.isRead,
    status: "in_flight",
    transient: false,
    digest: null,
  };
}

function pushed(ring: readonly RingEntry[], entry: RingEntry, size: number): readonly RingEntry[] {
  const kept = ring.length < size ? ring.slice() : ring.slice(ring.length - size + 1);
  kept.push(entry);
  return kept;
}

function withEffects(state: ConversationState, event: CallAllowed): ConversationState {
  let { effects } = state;
  for (const effect of event.call.exclusive) {
    effects = trieSet(effects, effect.resource, {
      decisionId: event.decisionId,
      callId: event.callId,
      tool: event.tool,
      kind: effect.kind,
      actionKey: event.actionKey,
      atMs: event.proposalsAtMs,
      status: "in_flight",
    });
  }
  return effects === state.effects ? state : { ...state, effects };
}

/** Advances rate windows and grants. */
function counted(state: ConversationState, call: CallFacts, atMs: number): ConversationState {
  let { rates, grants } = state;
  for (const { key, windowMs } of call.rates) {
    const recent = (trieGet(rates, key) ?? []).filter((time) => time > atMs - windowMs);
    rates = trieSet(rates, key, [...recent, atMs].slice(-LIMITS.rateWindowCalls));
  }
  if (call.grant !== null) {
    const { tier, expiresAtMs } = call.grant;
    const used = (trieGet(grants, tier)?.used ?? 0) + 1;
    grants = trieSet(grants, tier, { used, expiresAtMs });
  }
  return rates === state.rates && grants === state.grants ? state : { ...state, rates, grants };
}

function afterHeld(before: ConversationState, event: CallHeld): ConversationState {
  const state = reserved(before, event);
  const open = openCall(event, event.call, state.n, state);
  return { ...state, open: trieSet(state.open, event.decisionId, open) };
}

function afterRefused(before: ConversationState, event: CallRefused): ConversationState {
  let state = before;
  if (event.answered !== null) state = afterAnswered(state, event, event.answered);
  if (event.strike !== null) state = { ...state, strikes: struck(state.strikes, event.strike) };
  if (event.cycle !== null) state = { ...state, cycle: event.cycle };
  const { raised } = event;
  if (raised === null) return state;
  const flags = {
    userInputRequired: state.flags.userInputRequired || raised.userInput,
    ended: raised.ended ?? state.flags.ended,
    acknowledge: raised.acknowledgement ? event.actionKey : state.flags.acknowledge,
  };
  return { ...state, flags };
}

/** A read answered from memory stands in the ring as its twin would. */
function afterAnswered(
  state: ConversationState,
  event: CallRefused,
  answered: NonNullable<CallRefused["answered"]>,
): ConversationState {
  const { call, outputDigest } = answered;
  const n = state.n + 1;
  const entry: RingEntry = {
    ...ringEntry(event, n, state),
    status: "succeeded",
    digest: outputDigest,
  };
  const ring = pushed(state.ring, entry, call.ringSize);
  const ledger = event.isRead ? state.readTwins : state.writeTwins;
  const twin = ledgerGet(ledger, call.twinKey, event.proposalsAtMs);
  if (twin === undefined) return { ...state, n, ring };
  const again = { ...twin, repeats: call.repeats };
  const bytes = twin.output?.length ?? 0;
  const put = ledgerPut(ledger, call.twinKey, again, call.dropAtMs, bytes);
  return event.isRead
    ? { ...state, n, ring, readTwins: put }
    : { ...state, n, ring, writeTwins: put };
}

function struck(strikes: readonly Strike[], strike: Strike): readonly Strike[] {
  const others = strikes.filter((other) => other.key !== strike.key);
  return [...others, strike].slice(-LIMITS.strikes);
}

/** Progress: strikes, the refused cycle and the asked acknowledgement are forgotten. */
export function progressed(state: ConversationState): ConversationState {
  if (state.strikes.length === 0 && state.cycle === null && state.flags === NO_FLAGS) return state;
  return {
    ...state,
    strikes: [],
    cycle: null,
    flags: { ...state.flags, acknowledge: null },
  };
}
