/** Finds a cycle: a period of two to five different calls, repeated. */
import { isBeforeInput, mayBeRecent } from "../state/recent-calls.ts";
import type { RecentCall } from "../state/state.ts";
import { type CallContext, type Finding, finding } from "./check.ts";

const PERIODS = [2, 3, 4, 5] as const;

/** `refused`: the action keys of an earlier cycle, which are refused until there is progress. */
export function findCycle(call: CallContext, refused: readonly string[] | null): Finding | null {
  // This comes before a look at recent calls, which a refused cycle outlives.
  const { loopKey } = call;
  if (refused?.includes(loopKey) === true) return cycleFinding(call, refused);
  // A call that was not made before completes no round.
  if (!mayBeRecent(call.state, loopKey)) return null;
  const pattern = findPattern(call, loopKey);
  if (pattern !== null && !isMovingRound(call, pattern)) return cycleFinding(call, pattern.keys);
  const between = findPatternBetween(call, loopKey);
  if (between === null || isMovingRound(call, between)) return null;
  return { ...cycleFinding(call, between.keys), detail: BETWEEN };
}

const BETWEEN =
  "Several agents of this conversation keep making these calls in turn, each what the other undid.";

/** With longer pauses, ms, several agents do not answer one another. */
const ANSWER_MS = 3_600_000;

/** Rounds that several agents make between them, each with writes of its own. */
export function findPatternBetween(call: LookedAt, loopKey: string): Pattern | null {
  const { recentCalls } = call.state;
  const { agentId } = call.proposal;
  if (call.tool.isRead || recentCalls.every((entry) => entry.agentId === agentId)) return null;
  for (const period of PERIODS) {
    const keys = completes(call, loopKey, recentCalls, period);
    if (
      keys !== null &&
      isAnswered(call, recentCalls.slice(1 - period * call.policy.loops.cycleRounds))
    ) {
      return { keys, period, recentCalls };
    }
  }
  return null;
}

function isAnswered({ proposal, nowMs }: LookedAt, rounds: readonly RecentCall[]): boolean {
  const isQuick = rounds.every(
    ({ atMs }, at) => (rounds[at + 1]?.atMs ?? nowMs) - atMs < ANSWER_MS,
  );
  return isQuick && rounds.some(({ agentId, isRead }) => !isRead && agentId !== proposal.agentId);
}

type LookedAt = Looked & Pick<CallContext, "tool" | "nowMs">;

/** Rounds that a call completes. */
export interface Pattern {
  readonly keys: readonly string[];
  readonly period: number;
  readonly recentCalls: readonly RecentCall[];
}

type Looked = Pick<CallContext, "policy" | "state"> & {
  readonly proposal: Pick<CallContext["proposal"], "agentId">;
};

/** The rounds of the shortest period that a call of this loop key completes. */
export function findPattern(call: Looked, loopKey: string): Pattern | null {
  const recentCalls = listOwn(call);
  for (const period of PERIODS) {
    const keys = completes(call, loopKey, recentCalls, period);
    if (keys !== null) return { keys, period, recentCalls };
  }
  return null;
}

/** The recent calls of the agent: those of others do not interrupt its rounds, and are none of them. */
function listOwn({ state, proposal }: Looked): readonly RecentCall[] {
  const { agentId } = proposal;
  const isOwn = (entry: RecentCall): boolean => entry.agentId === agentId;
  return state.recentCalls.every(isOwn) ? state.recentCalls : state.recentCalls.filter(isOwn);
}

/** The keys of the period if this call completes its last round, else null. */
function completes(
  call: Looked,
  loopKey: string,
  recentCalls: readonly RecentCall[],
  period: number,
): readonly string[] | null {
  const rounds = call.policy.loops.cycleRounds;
  const needed = rounds * period - 1;
  if (recentCalls.length < needed) return null;
  // A new turn is new user input: a call that the user asked for again is no cycle of the model's.
  if (isBeforeInput(back(recentCalls, needed), call.state)) return null;
  if (back(recentCalls, period).loopKey !== loopKey) return null;
  for (let at = 1; at + period <= needed; at++) {
    if (back(recentCalls, at).loopKey !== back(recentCalls, at + period).loopKey) return null;
  }
  const keys = new Set([loopKey]);
  for (let at = 1; at < period; at++) keys.add(back(recentCalls, at).loopKey);
  return keys.size < 2 ? null : [...keys];
}

/**
 * Whether the last round brought something new: an output other than all that earlier recent calls of its
 * action gave. What a write answers counts only where each call of its tool is meant; else it is judged by what
 * is read after it.
 */
export function isMovingRound(
  call: Pick<CallContext, "policy" | "tool">,
  { recentCalls, period }: Pattern,
): boolean {
  for (let at = recentCalls.length - period; at < recentCalls.length; at++) {
    if (isEvidence(call, recentCalls[at] as RecentCall) && isNewOutput(recentCalls, at))
      return true;
  }
  return false;
}

function isEvidence(
  { policy, tool }: Pick<CallContext, "policy" | "tool">,
  entry: RecentCall,
): boolean {
  if (entry.isRead || !tool.changesMatter) return true;
  const { repeatable, namesNoObject, commandsOf } = policy.tool(entry.tool);
  return repeatable || namesNoObject || commandsOf !== null;
}

/** Whether the call gave an output that no earlier recent call of its action gave, and there was one. */
export function isNewOutput(recentCalls: readonly RecentCall[], at: number): boolean {
  const { loopKey, maskedDigest } = recentCalls[at] as RecentCall;
  if (maskedDigest === null) return false;
  let isRepeat = false;
  for (let before = 0; before < at; before++) {
    const other = recentCalls[before] as RecentCall;
    if (other.loopKey !== loopKey) continue;
    if (other.maskedDigest === maskedDigest) return false;
    isRepeat = true;
  }
  return isRepeat;
}

/** The entry that many calls ago; 1: the latest. */
function back(recentCalls: readonly RecentCall[], distance: number): RecentCall {
  return recentCalls[recentCalls.length - distance] as RecentCall;
}

/** The key that strikes of a cycle are counted by. */
export function cycleKeyOf(keys: readonly string[]): string {
  return `cycle:${[...keys].sort()[0] ?? ""}`;
}

function cycleFinding(call: CallContext, keys: readonly string[]): Finding {
  return finding({
    reason: "loop_cycle",
    rule: "loops.cycle_rounds",
    disposition: "change_approach",
    detail: `The same ${keys.length} calls have been made in turn, over and over.`,
    previous: call.priorCall ?? null,
    cycle: keys,
    strikeKey: cycleKeyOf(keys),
  });
}
