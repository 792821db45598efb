// What holds of every decision, whatever the policy and the history.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decide } from "../../../services/core/decide/decide.ts";
import type { GateEvent } from "../../../services/core/events.ts";
import type { GateInput, ProposalInput } from "../../../services/core/inputs.ts";
import type { CompiledPolicy } from "../../../services/core/policy/compiled.ts";
import type { PolicyDocument } from "../../../services/core/policy/document.ts";
import { evolve } from "../../../services/core/state/evolve.ts";
import { mayBeRecent, settledAtMost } from "../../../services/core/state/recent-calls.ts";
import { restoreState, snapshotState } from "../../../services/core/state/snapshot.ts";
import type { ConversationState } from "../../../services/core/state/state.ts";
import { compiled } from "../../support/core/compile.ts";
import { junkInput } from "../../support/core/junk.ts";
import { SUBJECTS } from "../../support/core/policies.ts";
import { type Act, Actor, acts } from "../../support/core/random-history.ts";

const SEED = Number(process.env["CALLGATE_SEED"] ?? 20_260_102);

type State = ConversationState | undefined;

const REPORTED_STATUSES: ReadonlySet<string> = new Set(["succeeded", "failed"]);

interface Moment {
  readonly before: State;
  readonly input: GateInput;
  readonly atMs: number;
  readonly events: readonly GateEvent[];
  readonly after: State;
}

/** The history, decided live, moment by moment. */
function live(
  policy: CompiledPolicy,
  tools: readonly string[],
  history: readonly Act[],
  seen: (moment: Moment) => void,
): State {
  const actor = new Actor(tools);
  let state: State;
  for (const act of history) {
    for (const input of actor.inputs(act)) {
      const before = state;
      const events = decide(before, input, policy, actor.atMs);
      for (const event of events) state = evolve(state, event);
      actor.note(events);
      seen({ before, input, atMs: actor.atMs, events, after: state });
    }
  }
  return state;
}

/** Every history of every subject: the law fails with the shortest that breaks it. */
function always(
  runs: number,
  law: (policy: CompiledPolicy, tools: readonly string[], history: readonly Act[]) => void,
): void {
  for (const { document, tools } of SUBJECTS) {
    const policy = compiled(document);
    fc.assert(
      fc.property(acts, (history) => law(policy, tools, history)),
      { seed: SEED, numRuns: runs },
    );
  }
}

/**
 * What versions of a table and of a queue share, and hand on to the latest. That an earlier version
 * still reads as it did is a law of its own below.
 */
const SHARED: ReadonlySet<string> = new Set(["map", "line"]);

function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const [name, member] of Object.entries(value)) {
    if (!SHARED.has(name)) frozen(member);
  }
  return value;
}

const EARLY: ReadonlySet<string> = new Set([
  ...["malformed", "invalid_arguments", "unknown_tool", "killed"],
  ...["tier_denied", "approval_denied"],
]);

function counted(state: State): unknown {
  if (state === undefined) return null;
  const { turn, totals } = state;
  return { turn: turn.index, calls: turn.calls, steps: turn.steps, totals };
}

/** Junk, and what it says of calls that were let through. */
function survived(policy: CompiledPolicy, inputs: readonly GateInput[]): State {
  let state: State;
  let open = {};
  for (const [n, junk] of inputs.entries()) {
    const input = junk.type === "result" || junk.type === "verdict" ? { ...junk, ...open } : junk;
    const events = decide(state, input, policy, 1_000 * n);
    expect(events.length).toBeGreaterThanOrEqual(input.type === "proposal" ? 1 : 0);
    expect(events.filter(isDefect)).toEqual([]);
    for (const event of events) {
      state = evolve(state, event);
      open = { ...open, ...idsOf(event) };
    }
  }
  return state;
}

function isDefect(event: GateEvent): boolean {
  return event.type === "refused" && event.refusal.reason === "internal_error";
}

/** What a result or a verdict names. */
function idsOf(event: GateEvent): object {
  if (event.type === "held") return { approvalId: event.holdId };
  if (event.type !== "allowed") return {};
  return { decisionId: event.decisionId, callId: event.call.callId };
}

describe("decide", () => {
  test("gives the same twice, after a round trip of the input, and of the state", () => {
    always(12, (policy, tools, history) => {
      live(policy, tools, history, ({ before, input, atMs, events }) => {
        expect(decide(before, input, policy, atMs)).toEqual(events);
        const again = JSON.parse(JSON.stringify(input)) as GateInput;
        expect(decide(before, again, policy, atMs)).toEqual(events);
        const restored = before === undefined ? undefined : restoreState(snapshotState(before));
        expect(decide(restored, input, policy, atMs)).toEqual(events);
      });
    });
  });

  test("gives one event for a proposal, of its own conversation, with a reason of the list", () => {
    always(40, (policy, tools, history) => {
      live(policy, tools, history, ({ input, events }) => {
        if (input.type !== "proposal") return;
        expect(events).toHaveLength(1);
        const [event] = events as [GateEvent];
        expect(["allowed", "refused", "held", "repeated"]).toContain(event.type);
        expect([event.tenantId, event.conversationId]).toEqual([
          input.tenantId,
          input.conversationId,
        ]);
        if (event.type === "refused") expect(event.refusal.reason).not.toBe("internal_error");
      });
    });
  });

  test("never throws and never meets a defect, whatever stands in the fields", () => {
    const policies = SUBJECTS.map(({ document }) => compiled(document));
    fc.assert(
      fc.property(fc.array(junkInput, { maxLength: 12 }), fc.nat(), (inputs, at) => {
        const policy = policies[at % policies.length] as CompiledPolicy;
        const state = survived(policy, inputs);
        if (state !== undefined) expect(restoreState(snapshotState(state))).toBeDefined();
      }),
      { seed: SEED, numRuns: 1_200 },
    );
  });

  test("with a tier that denies never allows or holds what was refused without it", () => {
    for (const { document, tools } of SUBJECTS) {
      const policy = compiled(document);
      const stricter = compiled(denying(document, tools[0] as string), "sha256:stricter");
      fc.assert(
        fc.property(acts, (history) => {
          live(policy, tools, history, ({ before, input, atMs, events }) => {
            if (events[0]?.type !== "refused" || input.type !== "proposal") return;
            expect(decide(before, input, stricter, atMs)).toMatchObject([{ type: "refused" }]);
          });
        }),
        { seed: SEED, numRuns: 25 },
      );
    }
  });

  test("spends nothing of a budget on a call that a check refuses", () => {
    always(40, (policy, tools, history) => {
      live(policy, tools, history, ({ before, events, after }) => {
        const [event] = events;
        if (
          event?.type !== "refused" ||
          event.approval.approvalId !== null ||
          event.conversation.fresh
        )
          return;
        if (after?.turn.index !== before?.turn.index) return;
        expect(after?.totals.spent ?? []).toEqual(before?.totals.spent ?? []);
        // What is refused before the checks counts as a call: to ask for it again and again has an end, too.
        if (!EARLY.has(event.refusal.reason)) expect(counted(after)).toEqual(counted(before));
      });
    });
  });
});

function denying(document: PolicyDocument, tool: string): PolicyDocument {
  const tiers = document.authorization?.tiers ?? [];
  const deny = { name: "denied", pattern: tool, action: "deny" } as const;
  return { ...document, authorization: { tiers: [deny, ...tiers] } };
}

describe("evolve", () => {
  test("gives of the journal the state that was live, also read back from text", () => {
    always(30, (policy, tools, history) => {
      const journal: GateEvent[] = [];
      const state = live(policy, tools, history, ({ events }) => journal.push(...events));
      let folded: State;
      for (const event of JSON.parse(JSON.stringify(journal)) as GateEvent[]) {
        folded = evolve(folded, event);
      }
      if (state === undefined) expect(folded).toBeUndefined();
      else expect(snapshotState(folded as ConversationState)).toBe(snapshotState(state));
    });
  });

  test("changes neither the state nor the event that it is given", () => {
    always(12, (policy, tools, history) => {
      live(frozenPolicy(policy), tools, history, ({ before, input, events, after }) => {
        frozen(before);
        frozen(input);
        frozen(events);
        frozen(after);
      });
    });
  });

  test("gives a ring with no more outcomes than `toldAtMost` says, and with all of its keys marked", () => {
    always(20, (policy, tools, history) => {
      live(policy, tools, history, ({ after }) => {
        if (after === undefined) return;
        for (const state of [after, restoreState(snapshotState(after))]) {
          const reportedCount = state.recentCalls.filter(({ status }) =>
            REPORTED_STATUSES.has(status),
          ).length;
          expect(reportedCount).toBeLessThanOrEqual(settledAtMost(state));
          for (const { actionKey } of state.recentCalls)
            expect(mayBeRecent(state, actionKey)).toBe(true);
        }
      });
    });
  });

  test("keeps every earlier state as it was", () => {
    always(8, (policy, tools, history) => {
      const earlierStates: { readonly state: ConversationState; readonly text: string }[] = [];
      live(policy, tools, history, ({ after }) => {
        if (after !== undefined) earlierStates.push({ state: after, text: snapshotState(after) });
      });
      for (const { state, text } of earlierStates) expect(snapshotState(state)).toBe(text);
    });
  });
});

/** Tools are compiled when first seen, so only what is there already can be frozen. */
function frozenPolicy(policy: CompiledPolicy): CompiledPolicy {
  frozen(policy.ladder);
  frozen(policy.loops);
  frozen(policy.budgets);
  return policy;
}

test("tenants and conversations have nothing in common, not even the ids of equal calls", () => {
  const policy = compiled({ tool_schemas: { write: {} } });
  const ids = ["a", "b"].flatMap((tenantId) =>
    ["c", "d"].map((conversationId) => {
      const proposal: ProposalInput = {
        type: "proposal",
        tenantId,
        conversationId,
        callId: "call",
        agentId: null,
        turn: null,
        step: null,
        tool: "write",
        arguments: "{}",
        assistantText: null,
        estimatedCost: null,
        confirmation: null,
        rejected: null,
      };
      const [event] = decide(undefined, proposal, policy, 0);
      expect(event).toMatchObject({ type: "allowed", tenantId, conversationId });
      return event?.type === "allowed" ? event.decisionId : "";
    }),
  );
  expect(new Set(ids).size).toBe(4);
});
