/** Counters, flags and the history of writes as rows. What is as in a new conversation is null. */
import { NO_BUDGETS } from "./budget-totals.ts";
import { type HeldTime, NEVER_HELD } from "./held-time.ts";
import type { RowOf } from "./snapshot-rows.ts";
import { NOTHING_SPENT, type Spent } from "./spent.ts";
import {
  type Flags,
  type LastWrite,
  type LastWrites,
  NO_FLAGS,
  NO_WRITES,
  type ToolTotals,
  type Totals,
  type TurnState,
} from "./state.ts";

/** Nothing spent is the one list of all states. */
function spentOf(spent: Spent): Spent {
  return spent.length === 0 ? NOTHING_SPENT : spent;
}

const packTurn = (turn: TurnState) =>
  [
    turn.id,
    turn.index,
    turn.startedAtMs,
    turn.calls,
    turn.steps,
    turn.lastStep,
    turn.heldBeforeMs,
    turn.spent,
    turn.answeredN,
  ] as const;

export const TURN_ROW: RowOf<TurnState, ReturnType<typeof packTurn>> = {
  pack: packTurn,
  unpack: (row) => ({
    id: row[0],
    index: row[1],
    startedAtMs: row[2],
    calls: row[3],
    steps: row[4],
    lastStep: row[5],
    heldBeforeMs: row[6],
    spent: spentOf(row[7]),
    answeredN: row[8],
  }),
};

const packTotals = ({ calls, steps, spent, budgets }: Totals) =>
  [calls, steps, spent, budgets] as const;

export const TOTALS_ROW: RowOf<Totals, ReturnType<typeof packTotals>> = {
  pack: packTotals,
  unpack: ([calls, steps, spent, budgets]) => ({
    calls,
    steps,
    spent: spentOf(spent),
    budgets: budgets.length === 0 ? NO_BUDGETS : budgets,
  }),
};

const packTool = (totals: ToolTotals) =>
  [
    totals.turnIndex,
    totals.turnCalls,
    totals.turnSteps,
    totals.lastStep,
    totals.startedAtMs,
    totals.heldBeforeMs,
    totals.spent,
  ] as const;

export const TOOL_ROW: RowOf<ToolTotals, ReturnType<typeof packTool>> = {
  pack: packTool,
  unpack: (row) => ({
    turnIndex: row[0],
    turnCalls: row[1],
    turnSteps: row[2],
    lastStep: row[3],
    startedAtMs: row[4],
    heldBeforeMs: row[5],
    spent: spentOf(row[6]),
  }),
};

/** After any write `doneN` is above 0. */
const packLastWrites = ({ doneN, latest, other, windowUntilMs }: LastWrites) =>
  doneN === 0 ? null : ([doneN, lastWrite(latest), lastWrite(other), windowUntilMs] as const);

const lastWrite = (write: LastWrite | null) =>
  write === null ? null : ([write.actionKey, write.n] as const);

function unpackWrite(row: ReturnType<typeof lastWrite>): LastWrite | null {
  return row === null ? null : { actionKey: row[0], n: row[1] };
}

export const LAST_WRITES_ROW: RowOf<LastWrites, ReturnType<typeof packLastWrites>> = {
  pack: packLastWrites,
  unpack: (row) => {
    if (row === null) return NO_WRITES;
    const [doneN, latest, other, windowUntilMs] = row;
    return { doneN, latest: unpackWrite(latest), other: unpackWrite(other), windowUntilMs };
  },
};

const packFlags = ({ userInputRequired, stoppedTool, ended, acknowledge }: Flags) => {
  const isNone = !userInputRequired && stoppedTool === null && ended === null;
  if (isNone && acknowledge === null) return null;
  return [userInputRequired, stoppedTool, ended, acknowledge] as const;
};

export const FLAGS_ROW: RowOf<Flags, ReturnType<typeof packFlags>> = {
  pack: packFlags,
  unpack: (row) => {
    if (row === null) return NO_FLAGS;
    const [userInputRequired, stoppedTool, ended, acknowledge] = row;
    return { userInputRequired, stoppedTool, ended, acknowledge };
  },
};

const packHeldTime = ({ totalMs, sinceMs }: HeldTime) =>
  totalMs === 0 && sinceMs === null ? null : ([totalMs, sinceMs] as const);

export const HELD_TIME_ROW: RowOf<HeldTime, ReturnType<typeof packHeldTime>> = {
  pack: packHeldTime,
  unpack: (row) => (row === null ? NEVER_HELD : { totalMs: row[0], sinceMs: row[1] }),
};
