/**
 * The hash of a partition's state, kept up with every change at a cost that does not grow with the
 * state: a conversation's hash chains a summary of what each record left it as, and the partition's
 * is the sum of its conversations'. It tells two foldings of one journal apart; against tampering
 * stands the journal's own chain.
 */
import { type Lines, linesHash } from "../core/hash.ts";
import { quoted } from "../core/quoted.ts";
import type { ConversationState } from "../core/state/state.ts";

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

/** A sum of hashes: of their first and second 48 bits, each modulo 2^48. */
export type StateSum = { readonly high: number; readonly low: number };

const LANE_DIGITS = 12;
const LANE = 2 ** 48;
const HALF_LANE = 2 ** 24;

export const NO_SUM: StateSum = { high: 0, low: 0 };

/** Hash of a conversation after record `seq`, 64 hex digits; `before` is the one before it, or "". */
export function conversationHash(
  before: string,
  key: string,
  seq: number,
  state: ConversationState,
): string {
  return linesHash("callgate.state/1", [before, key, String(seq)], summaryOf(state));
}

/** The sum without the hash `out` and with the hash `into`; "" is no hash. */
export function exchanged(sum: StateSum, out: string, into: string): StateSum {
  return {
    high: modulo(sum.high - digitsAt(out, 0) + digitsAt(into, 0)),
    low: modulo(sum.low - digitsAt(out, LANE_DIGITS) + digitsAt(into, LANE_DIGITS)),
  };
}

/** 24 hex digits, as it stands in the journal. */
export function sumText({ high, low }: StateSum): string {
  return laneText(high) + laneText(low);
}

/** Of a number that lies less than a lane below 0, and less than two above. */
function modulo(total: number): number {
  const positive = total < 0 ? total + LANE : total;
  return positive < LANE ? positive : positive - LANE;
}

function laneText(lane: number): string {
  return lane.toString(16).padStart(LANE_DIGITS, "0");
}

/** Twelve hex digits as a number, in two halves that small integers hold. */
function digitsAt(hash: string, at: number): number {
  if (hash === "") return 0;
  const half = LANE_DIGITS / 2;
  return hexAt(hash, at, half) * HALF_LANE + hexAt(hash, at + half, half);
}

function hexAt(hash: string, start: number, digits: number): number {
  let value = 0;
  for (let at = start; at < start + digits; at += 1) {
    const unit = charCodeAt.call(hash, at);
    value = (value << 4) | (unit > 0x39 ? unit - 0x57 : unit - 0x30);
  }
  return value;
}

type Words = (string | number | boolean | null)[];

/** Filled anew for each state: lists made for it would be most of what it leaves to the garbage collector. */
const COUNTERS: Words = [];
const CALL: Words = [];
const REST: Words = [];
const SUMMARY: Lines = [COUNTERS, CALL, REST];

/** Everything of a state that is small, counters of what is large, and the latest call. */
function summaryOf(state: ConversationState): Lines {
  countersOf(state);
  const { turn, ring, strikes, cycle } = state;
  const last = ring[ring.length - 1];
  if (last === undefined) {
    CALL.length = 0;
  } else {
    CALL[0] = last.decisionId;
    CALL[1] = last.actionKey;
    CALL[2] = last.status;
    CALL[3] = last.digest;
    CALL[4] = last.n;
  }
  REST[0] =
    strikes.length === 0 && cycle === null
      ? quietTurn(turn.id)
      : JSON.stringify([turn.id, strikes, cycle]);
  return SUMMARY;
}

let lastTurn: string | null = null;
let lastText = "[null,[],null]";

/** A turn without strikes and cycle. Most are named alike in many conversations: the latest text is kept. */
function quietTurn(id: string | null): string {
  if (id !== lastTurn) {
    lastTurn = id;
    lastText = `[${quoted(id)},[],null]`;
  }
  return lastText;
}

function countersOf(state: ConversationState): void {
  const { turn, totals, writes, flags } = state;
  COUNTERS[0] = state.startedAtMs;
  COUNTERS[1] = state.lastAtMs;
  COUNTERS[2] = state.dropAtMs;
  COUNTERS[3] = state.n;
  COUNTERS[4] = turn.index;
  COUNTERS[5] = turn.startedAtMs;
  COUNTERS[6] = turn.calls;
  COUNTERS[7] = turn.steps;
  COUNTERS[8] = totals.calls;
  COUNTERS[9] = totals.steps;
  COUNTERS[10] = state.kept.nextOrder;
  COUNTERS[11] = state.loose.nextOrder;
  COUNTERS[12] = state.readTwins.nextOrder;
  COUNTERS[13] = state.writeTwins.nextOrder;
  COUNTERS[14] = writes.byResource.nextOrder;
  COUNTERS[15] = state.tools.size;
  COUNTERS[16] = state.open.size;
  COUNTERS[17] = state.effects.size;
  COUNTERS[18] = state.rates.size;
  COUNTERS[19] = state.grants.size;
  COUNTERS[20] = state.confirmations.size;
  COUNTERS[21] = state.ring.length;
  COUNTERS[22] = state.strikes.length;
  COUNTERS[23] = flags.userInputRequired;
  COUNTERS[24] = flags.ended;
  COUNTERS[25] = flags.acknowledge;
}
