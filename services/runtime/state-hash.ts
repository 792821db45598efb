/**
 * The hash of a partition's state, updated with every change at a cost that does not grow with the
 * state: a conversation's hash chains summaries of its state after each record, and the partition's
 * hash is the sum of those. It detects that two replays of one journal differ; the journal's own
 * chain protects against tampering.
 */
import { jsonDigest } from "../core/hash.ts";
import type { ConversationState } from "../core/state/state.ts";

/** A sum of hashes: of their first and second 48 bits, each modulo 2^48. */
export type StateSum = { readonly high: number; readonly low: number };

const LANE_DIGITS = 12;
const LANE = 2 ** 48;

export const NO_SUM: StateSum = { high: 0, low: 0 };

/**
 * Hash of a conversation after record `seq`, 64 hex digits; `before` is its previous hash, or "".
 */
export function conversationHash(
  before: string,
  key: string,
  seq: number,
  state: ConversationState,
): string {
  return jsonDigest("callgate.state/1", [before, key, seq, summaryOf(state)]);
}

/** The sum without the hash `out` and with the hash `into`; "" stands for no hash. */
export function exchangeHash(sum: StateSum, out: string, into: string): StateSum {
  return {
    high: modulo(sum.high - digitsAt(out, 0) + digitsAt(into, 0)),
    low: modulo(sum.low - digitsAt(out, LANE_DIGITS) + digitsAt(into, LANE_DIGITS)),
  };
}

/** The sum as the journal has it: 24 hex digits. */
export function sumText({ high, low }: StateSum): string {
  return laneText(high) + laneText(low);
}

/** Reduces a total that is at least -2^48 and below 2^49. */
function modulo(total: number): number {
  const positive = total < 0 ? total + LANE : total;
  return positive < LANE ? positive : positive - LANE;
}

function laneText(lane: number): string {
  return lane.toString(16).padStart(LANE_DIGITS, "0");
}

/** Twelve hex digits as a number. */
function digitsAt(hash: string, at: number): number {
  return hash === "" ? 0 : Number.parseInt(hash.slice(at, at + LANE_DIGITS), 16);
}

/** Everything of a state that is small, counters of what is large, and the latest call. */
function summaryOf(state: ConversationState): readonly unknown[] {
  const { turn, totals, recentCalls, strikes, cycle } = state;
  const last = recentCalls[recentCalls.length - 1];
  const latestCall =
    last === undefined ? [] : [last.decisionId, last.loopKey, last.status, last.digest, last.n];
  return [countersOf(state), latestCall, turn.id, strikes, cycle, totals.budgets];
}

function countersOf(state: ConversationState): readonly (string | number | boolean | null)[] {
  const { turn, totals, writes, flags } = state;
  return [
    state.startedAtMs,
    state.lastAtMs,
    state.dropAtMs,
    state.n,
    turn.index,
    turn.startedAtMs,
    turn.calls,
    turn.steps,
    totals.calls,
    totals.steps,
    state.retained.nextOrder,
    state.loose.nextOrder,
    state.priorReads.nextOrder,
    state.priorWrites.nextOrder,
    writes.byResource.nextOrder,
    state.tools.size,
    state.open.size,
    state.effects.size,
    state.rates.size,
    state.grants.size,
    state.confirmations.size,
    state.recentCalls.length,
    state.strikes.length,
    flags.userInputRequired,
    flags.stoppedTool,
    flags.ended,
    flags.acknowledge,
  ];
}
