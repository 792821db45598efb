/** Begins a turn. A new turn means new user input, and is progress. */

import { emptyLedger } from "../../collections/ledger.ts";
import { emptyTrie, type Trie, trieDelete, trieEntries } from "../../collections/trie.ts";
import { LIMITS } from "../limits.ts";
import { heldUntil } from "./held-time.ts";
import { NOTHING_SPENT } from "./spent.ts";
import { type ConversationState, NO_FLAGS, NOTHING, type ToolTotals } from "./state.ts";

const INTEGER = /^\d{1,15}$/;

/**
 * The state that a call of this turn is judged in. A call of an earlier numbered turn is late, not
 * new: it is judged within the present turn.
 */
export function enterTurn(
  state: ConversationState,
  turn: string | null,
  atMs: number,
): ConversationState {
  if (turn === null || turn === state.turn.id || isLate(turn, state.turn.id)) return state;
  const first = state.turn.id === null && state.turn.index === 0 && state.totals.calls === 0;
  return {
    ...state,
    turn: {
      id: turn,
      index: state.turn.index + 1,
      startedAtMs: atMs,
      calls: 0,
      steps: 0,
      lastStep: null,
      heldBeforeMs: heldUntil(state, atMs),
      spent: NOTHING_SPENT,
      answeredN: 0,
    },
    // Counters of each tool are counters within the turn.
    tools: emptyTrie(),
    sketches: emptyLedger(),
    strikes: first ? state.strikes : NOTHING,
    cycle: null,
    flags: state.flags.ended === "conversation" ? { ...NO_FLAGS, ended: "conversation" } : NO_FLAGS,
  };
}

function isLate(turn: string, current: string | null): boolean {
  return (
    current !== null &&
    INTEGER.test(turn) &&
    INTEGER.test(current) &&
    Number(turn) < Number(current)
  );
}

/** Whether a call with this step opens a new one. A call without a step is a step of its own. */
export function opensStep(step: string | null, lastStep: string | null): boolean {
  return step === null || step !== lastStep;
}

/**
 * Totals with room for one more tool, where that is possible: those of earlier turns no longer
 * count.
 */
export function roomForTool(state: ConversationState): Trie<ToolTotals> {
  const { tools, turn } = state;
  if (tools.size < LIMITS.counters) return tools;
  let present = tools;
  for (const [name, totals] of trieEntries(tools)) {
    if (totals.turnIndex !== turn.index) present = trieDelete(present, name);
  }
  return present;
}
