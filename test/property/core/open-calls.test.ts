// Compares the index of open calls with a search through all of them.
import fc from "fast-check";
import { expect, test } from "vitest";
import { trieEntries } from "../../../services/collections/trie.ts";
import {
  firstDeadlineMs,
  heldPriorKey,
  indexOf,
  latestHeld,
  putOpen,
  takeOpen,
} from "../../../services/core/state/open-calls.ts";
import {
  type ConversationState,
  initialState,
  type OpenCall,
  type StateDraft,
} from "../../../services/core/state/state.ts";
import { startStory } from "../../support/decider-spec.ts";

const POLICY = {
  authorization: { tiers: [{ name: "asks", pattern: "ask", action: "hitl" }] },
  tool_schemas: { ask: {}, write: {} },
} as const;

function opened(tool: "ask" | "write"): OpenCall {
  const story = startStory(POLICY);
  story.when(story.proposal(tool));
  const [entry] = trieEntries((story.state as ConversationState).open);
  if (entry === undefined) throw new Error("no call is open");
  return entry[1];
}

const RUNNING = opened("write");
const HELD = opened("ask");

const step = fc.record({
  act: fc.constantFrom("run", "run", "hold", "take", "take", "unknown"),
  // More ids than the index scans.
  id: fc.nat(59),
  deadlineMs: fc.nat(30),
  priorKey: fc.constantFrom("a", "b"),
});

/** The number of ids, and the steps with them. */
const stories = fc.tuple(fc.constantFrom(3, 60), fc.array(step, { maxLength: 240, size: "max" }));

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function act(state: StateDraft, { act: what, id, deadlineMs, priorKey }: Step, n: number): void {
  const decisionId = `decision ${id}`;
  const open = new Map(trieEntries(state.open)).get(decisionId);
  if (what === "take") takeOpen(state, decisionId);
  else if (what === "unknown") {
    if (open !== undefined && open.held === null) {
      putOpen(state, { ...open, status: "unknown", deadlineMs: null });
    }
  } else {
    const base = what === "hold" ? HELD : RUNNING;
    const call = { ...base.call, priorKey: priorKey };
    const held = base.held === null ? null : { ...base.held };
    putOpen(state, { ...base, decisionId, deadlineMs, call, held, n });
  }
}

test("deadlines and holds are those of the open calls, and the index retains little else", () => {
  const kinds = new Set<boolean>();
  fc.assert(
    fc.property(stories, ([ids, steps]) => {
      const state: StateDraft = { ...initialState("tenant", "conversation", 0) };
      for (const [n, one] of steps.entries()) {
        // Several inputs of one moment.
        act(state, { ...one, id: one.id % ids }, n >> 2);
        const calls = [...trieEntries(state.open)].map(([, call]) => call);
        const deadlines = calls.flatMap((call) => call.deadlineMs ?? []);
        const first = deadlines.length === 0 ? undefined : Math.min(...deadlines);
        expect(firstDeadlineMs(state)).toBe(first);
        expect(firstDeadlineMs({ ...state, openIndex: indexOf(state.open) })).toBe(first);
        kinds.add(state.openIndex.deadlines === undefined);
        for (const priorKey of ["a", "b"]) {
          const held = calls.filter(
            (call) => call.held !== null && call.call.priorKey === priorKey,
          );
          held.sort((a, b) => b.n - a.n || (a.decisionId < b.decisionId ? 1 : -1));
          for (const except of [null, held[0]?.decisionId ?? null]) {
            const expected = held.find((call) => call.decisionId !== except);
            expect(latestHeld(state, heldPriorKey(priorKey), except)).toBe(expected);
            expect(
              latestHeld(
                { ...state, openIndex: indexOf(state.open) },
                heldPriorKey(priorKey),
                except,
              ),
            ).toBe(expected);
          }
        }
        const held = calls.filter((call) => call.held !== null);
        expect(state.openIndex.heldCount).toBe(held.length);
        expect(state.openIndex.queued).toBeLessThanOrEqual(2 * state.open.size + 17);
      }
    }),
    { numRuns: 300 },
  );
  expect(kinds.size).toBe(2);
});
