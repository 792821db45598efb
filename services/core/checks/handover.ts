/**
 * The part of the check `loops` for tools that hand one task to one another: two or three of them in strict turn,
 * each call another sentence, and nothing declared that would change. No argument and no output is equal, so
 * that no other rule sees the round.
 */
import { isBeforeInput } from "../state/recent-calls.ts";
import type { RecentCall } from "../state/state.ts";
import { SENTENCES } from "../state/sweep.ts";
import { type CallContext, type Finding, finding } from "./check.ts";

const ROUNDS = 4;

const PERIODS = [2, 3] as const;

type Asked = Pick<CallContext, "policy" | "state" | "tool" | "proposal">;

export function findHandover(call: Asked): Finding | null {
  const { recentCalls } = call.state;
  const own = partyOf(call.tool.name, call.proposal.agentId);
  for (const period of PERIODS) {
    const rounds = listLast(recentCalls, ROUNDS * period - 1);
    if (rounds.length < ROUNDS * period - 1) return null;
    const parties = rounds.map(({ tool, agentId }) => partyOf(tool, agentId));
    const isInTurn = [...parties, own].every((one, at) => one === parties[at % period]);
    if (!isInTurn || new Set(parties).size !== period) continue;
    return rounds.every((entry) => isHandedOn(call, entry)) ? handoverFinding(rounds) : null;
  }
  return null;
}

/**
 * The latest calls, oldest first. Where one was refused, the party before it has two in a row, of which one counts.
 */
function listLast(recentCalls: readonly RecentCall[], count: number): readonly RecentCall[] {
  const last: RecentCall[] = [];
  let isOneMissing = false;
  for (let at = recentCalls.length - 1; at >= 0 && last.length < count; at--) {
    const entry = recentCalls[at] as RecentCall;
    const after = last[last.length - 1];
    const isSame = after?.tool === entry.tool && after.agentId === entry.agentId;
    if (isSame && !isOneMissing) isOneMissing = true;
    else last.push(entry);
  }
  return last.reverse();
}

/** For people: whether the call would complete such rounds. */
export function explainHandover(call: Asked): string {
  return findHandover(call) === null
    ? ""
    : `it completes ${ROUNDS} rounds of calls that pass one task on: warned of, or refused where \`loop_rotation\` is enforced`;
}

function partyOf(tool: string, agentId: string | null): string {
  return `${tool} ${agentId ?? ""}`;
}

/** Whether the call only says something: what it changes is not declared, and another look is no repeat. */
function isHandedOn({ policy, state }: Asked, entry: RecentCall): boolean {
  if (entry.form !== SENTENCES || isBeforeInput(entry, state)) return false;
  const { effects, volatile, commandsOf } = policy.tool(entry.tool);
  return commandsOf === null && (entry.isRead ? volatile : effects.length === 0);
}

function handoverFinding(rounds: readonly RecentCall[]): Finding {
  const names = [...new Set(rounds.map(({ tool }) => `\`${tool}\``))];
  return finding({
    reason: "loop_rotation",
    rule: "loops.rotation",
    disposition: "change_approach",
    detail: `It completes ${ROUNDS} rounds of calls that pass one task on: ${names.join(", ")}.`,
    strikeKey: "rotation",
  });
}
