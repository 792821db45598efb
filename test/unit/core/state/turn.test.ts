import { describe, expect, test } from "vitest";
import { emptyTrie, trieSet } from "../../../../services/collections/trie.ts";
import { initialState } from "../../../../services/core/state/state.ts";
import { enterTurn, opensStep, roomForTool } from "../../../../services/core/state/turn.ts";

const START = initialState("t", "c", 0);
const SECOND_TURN = enterTurn(enterTurn(START, "1", 10), "2", 20);

describe("a new turn", () => {
  test("resets counters and what the escalation switched on", () => {
    const COST = { microUnits: 5, currency: "USD" };
    const busy = {
      ...SECOND_TURN,
      turn: { ...SECOND_TURN.turn, calls: 5, steps: 3, lastStep: "s", spent: [COST] },
      strikes: [{ key: "k", count: 2, step: null }],
      cycle: ["a", "b"],
      flags: { userInputRequired: true, stoppedTool: "look", ended: "turn", acknowledge: "k" },
    } as const;
    const next = enterTurn(busy, "3", 30);
    expect(next.turn).toEqual({
      id: "3",
      index: SECOND_TURN.turn.index + 1,
      startedAtMs: 30,
      calls: 0,
      steps: 0,
      lastStep: null,
      heldBeforeMs: 0,
      spent: [],
      answeredN: 0,
    });
    expect([next.strikes, next.cycle, next.tools.size]).toEqual([[], null, 0]);
    expect(next.flags).toEqual({
      userInputRequired: false,
      stoppedTool: null,
      ended: null,
      acknowledge: null,
    });
    const ended = { ...busy, flags: { ...busy.flags, ended: "conversation" } } as const;
    expect(enterTurn(ended, "3", 30).flags).toEqual({
      userInputRequired: false,
      stoppedTool: null,
      ended: "conversation",
      acknowledge: null,
    });
  });

  test.each([
    ["the present one", "2"],
    ["no turn at all", null],
    ["an earlier numbered one", "1"],
    ["an earlier one, by number and not by letters", "02"],
  ])("does not begin with %s", (_name, turn) => {
    const present = turn === "02" ? enterTurn(START, "10", 0) : SECOND_TURN;
    expect(enterTurn(present, turn, 30)).toBe(present);
  });

  test.each(["10", "next", "1a", "-1", "02"])("begins with %s after 2", (turn) => {
    expect(enterTurn(SECOND_TURN, turn, 30).turn.id).toBe(turn);
  });

  test("begins with any other name where names are no numbers", () => {
    const entered = enterTurn(START, "b", 0);
    expect(enterTurn(entered, "a", 1).turn.id).toBe("a");
    expect(enterTurn(entered, "1", 1).turn.id).toBe("1");
  });
});

test("strikes from before the first turn remain, unless a call ran before it", () => {
  const strikes = [{ key: "k", count: 2, step: null }];
  expect(enterTurn({ ...START, strikes }, "1", 10).strikes).toEqual(strikes);
  const totals = { ...START.totals, calls: 1 };
  expect(enterTurn({ ...START, strikes, totals }, "1", 10).strikes).toEqual([]);
  const turn = { ...START.turn, index: 1 };
  expect(enterTurn({ ...START, strikes, turn }, "1", 10).strikes).toEqual([]);
});

test("counters of tools of another turn make room only where there is none", () => {
  const totals = { ...START.turn, turnIndex: 7, turnCalls: 1, turnSteps: 1 };
  let tools = emptyTrie<typeof totals>();
  for (let n = 1; n < 256; n += 1) tools = trieSet(tools, `tool-${n}`, totals);
  expect(roomForTool({ ...START, tools }).size).toBe(255);
  expect(roomForTool({ ...START, tools: trieSet(tools, "last", totals) }).size).toBe(0);
});

test("a step begins with a name that is not the last one, and with none", () => {
  expect([opensStep("a", null), opensStep("a", "b"), opensStep(null, null)]).toEqual([
    true,
    true,
    true,
  ]);
  expect(opensStep("a", "a")).toBe(false);
});
