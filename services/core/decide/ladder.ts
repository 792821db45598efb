/** Escalation: what the n-th refusal for repetition says and switches on. */
import type { CallContext, Finding } from "../checks/check.ts";
import type { Raised, Strike } from "../events.ts";
import type { Ladder } from "../policy/compiled.ts";
import { REASONS } from "../reasons/reasons.ts";
import { loopKeyOf } from "../state/recent-calls.ts";

/** 0 none, 1 ask, 2 options, 3 user input, 4 end. */
export type Level = 0 | 1 | 2 | 3 | 4;

export interface EscalationLevel {
  readonly strike: Strike | null;
  readonly level: Level;
  readonly count: number;
  readonly raised: Raised | null;
}

/** Options: what nothing runs for must not end a turn. */
const SERVED_LEVEL_MAX = 2;

const NO_ESCALATION: EscalationLevel = { strike: null, level: 0, count: 0, raised: null };

/**
 * A read answered from memory is no strike: no refusal is counted. A loop of such reads is one, and shows
 * options at most: what nothing runs for must not end the turn.
 */
export function climb(call: CallContext, finding: Finding): EscalationLevel {
  if (finding.answered || (REASONS[finding.reason].isStrike !== true && finding.strikeKey === null))
    return NO_ESCALATION;
  const key = loopKeyOf(finding.strikeKey ?? call.actionKey, call.proposal.agentId);
  const { step, turn } = call.proposal;
  const before = call.state.strikes.find((strike) => strike.key === key);
  // Strikes of one step count once: its calls were issued before any of them was answered.
  const sameStep = before !== undefined && step !== null && before.step === step;
  const count = (before?.count ?? 0) + (sameStep ? 0 : 1);
  const reached = levelAt(call.policy.ladder, count);
  const isCapped = finding.isServed && reached > SERVED_LEVEL_MAX;
  const level = isCapped ? SERVED_LEVEL_MAX : reached;
  if (finding.isServed) return { strike: { key, count, step }, level, count, raised: null };
  return { strike: { key, count, step }, level, count, raised: raisedAt(call, level, turn) };
}

function levelAt(ladder: Ladder, count: number): Level {
  if (ladder.end !== null && count >= ladder.end.at) return 4;
  if (ladder.userInput !== null && count >= ladder.userInput) return 3;
  if (ladder.options !== null && count >= ladder.options) return 2;
  return ladder.ask !== null && count >= ladder.ask ? 1 : 0;
}

/** Without turns nothing would ever lift a stop: then only the repeated call is refused. */
function raisedAt(call: CallContext, level: Level, turn: string | null): Raised | null {
  const acknowledgement = level >= 2 && call.policy.acknowledgement !== "off";
  const stops = level >= 3 && turn !== null;
  if (!acknowledgement && !stops) return null;
  const lasts = call.policy.ladder.end?.lasts ?? "turn";
  return {
    acknowledgement,
    userInput: stops && level === 3,
    ended: stops && level === 4 ? lasts : null,
  };
}
