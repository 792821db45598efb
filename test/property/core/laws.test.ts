// Laws that hold for every decision, whatever the policy and the history.
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decide } from "../../../services/core/decide/decide.ts";
import type { GateEvent } from "../../../services/core/events.ts";
import type { GateInput, ProposalInput } from "../../../services/core/inputs.ts";
import type { CompiledPolicy } from "../../../services/core/policy/compiled.ts";
import type { PolicyDocument } from "../../../services/core/policy/document.ts";
import { evolve } from "../../../services/core/state/evolve.ts";
import { mayBeRecent, settledAtMost } from "../../../services/core/state/recent-calls.ts";
import type { ConversationState } from "../../../services/core/state/state.ts";
import { compiled } from "../../support/core/compile.ts";
import { junkInput } from "../../support/core/junk.ts";
import { SUBJECTS } from "../../support/core/policies.ts";
import { type Act, Actor, acts } from "../../support/core/random-history.ts";
import { stateFromText, stateText } from "../../support/core/state-text.ts";

const SEED = Number(process.env["CALLGATE_SEED"] ?? 20_260_102);

type State = ConversationState | undefined;

const ANSWERS: ReadonlySet<string> = new Set(["allowed", "refused", "held", "repeated"]);
const REPORTED_STATUSES: ReadonlySet<string> = new Set(["succeeded", "failed"]);

interface Moment {
  readonly before: State;
  readonly input: GateInput;
  readonly atMs: number;
  readonly events: readonly GateEvent[];
  readonly after: State;
}

/** Decides the history step by step, as the gate does. */
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

/** Every history of every subject: a law fails with the shortest one that breaks it. */
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

/** As `toEqual`, which is slow and therefore asked only about what is not strictly equal. */
function same(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}

/**
 * Members that versions of a table and of a queue share and pass on to the latest. A law of its own
 * below says that an earlier version still reads as it did.
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

/** Junk inputs, with reports on the calls that were allowed. */
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

/** The ids that a result or a verdict names. */
function idsOf(event: GateEvent): object {
  if (event.type === "held") return { approvalId: event.holdId };
  if (event.type !== "allowed") return {};
  return { decisionId: event.decisionId, callId: event.call.callId };
}

describe("decide", () => {
  test("decides twice alike, and after a round trip of the input and of the state", () => {
    always(12, (policy, tools, history) => {
      live(policy, tools, history, ({ before, input, atMs, events }) => {
        same(decide(before, input, policy, atMs), events);
        const again = JSON.parse(JSON.stringify(input)) as GateInput;
        same(decide(before, again, policy, atMs), events);
        const restored = before === undefined ? undefined : stateFromText(stateText(before));
        same(decide(restored, input, policy, atMs), events);
      });
    });
  });

  test("returns one event for a proposal, for its own conversation and with a listed reason", () => {
    always(40, (policy, tools, history) => {
      live(policy, tools, history, ({ input, events }) => {
        if (input.type !== "proposal") return;
        same(events.length, 1);
        const [event] = events as [GateEvent];
        if (!ANSWERS.has(event.type)) expect([...ANSWERS]).toContain(event.type);
        same([event.tenantId, event.conversationId], [input.tenantId, input.conversationId]);
        same(events.filter(isDefect), []);
      });
    });
  });

  test("never throws and never reports a defect, whatever the fields contain", () => {
    const policies = SUBJECTS.map(({ document }) => compiled(document));
    fc.assert(
      fc.property(fc.array(junkInput, { maxLength: 12 }), fc.nat(), (inputs, at) => {
        const policy = policies[at % policies.length] as CompiledPolicy;
        const state = survived(policy, inputs);
        if (state !== undefined) expect(stateFromText(stateText(state))).toBeDefined();
      }),
      { seed: SEED, numRuns: 1_200 },
    );
  });

  test("with a denying tier never allows or holds a call that was refused without it", () => {
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

  test("uses up no budget for a call that a check refuses", () => {
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
        same(after?.totals.spent ?? [], before?.totals.spent ?? []);
        // A refusal before the checks counts as a call, so that repeated requests end, too.
        if (!EARLY.has(event.refusal.reason)) same(counted(after), counted(before));
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
  test("gives for the journal the state that was live, also after it was read back from text", () => {
    always(30, (policy, tools, history) => {
      const journal: GateEvent[] = [];
      const state = live(policy, tools, history, ({ events }) => journal.push(...events));
      let folded: State;
      for (const event of JSON.parse(JSON.stringify(journal)) as GateEvent[]) {
        folded = evolve(folded, event);
      }
      if (state === undefined) expect(folded).toBeUndefined();
      else expect(stateText(folded as ConversationState)).toBe(stateText(state));
    });
  });

  test("changes neither the state nor the event that it gets", () => {
    always(12, (policy, tools, history) => {
      live(frozenPolicy(policy), tools, history, ({ before, input, events, after }) => {
        frozen(before);
        frozen(input);
        frozen(events);
        frozen(after);
      });
    });
  });

  test("keeps no more recent calls with an outcome than `settledAtMost` says, and marks all of their keys", () => {
    const check = (state: ConversationState): void => {
      const { recentCalls } = state;
      const reported = recentCalls.filter(({ status }) => REPORTED_STATUSES.has(status)).length;
      const most = settledAtMost(state);
      if (reported > most) expect(reported).toBeLessThanOrEqual(most);
      const unmarked = recentCalls.filter(({ loopKey }) => !mayBeRecent(state, loopKey));
      same(unmarked, []);
    };
    always(20, (policy, tools, history) => {
      const state = live(policy, tools, history, ({ after }) => {
        if (after !== undefined) check(after);
      });
      // The marks are not stored: a state that is read back has those of its recent calls.
      if (state !== undefined) check(stateFromText(stateText(state)));
    });
  });

  test("leaves every earlier state unchanged", () => {
    always(8, (policy, tools, history) => {
      const earlierStates: { readonly state: ConversationState; readonly text: string }[] = [];
      live(policy, tools, history, ({ after }) => {
        if (after !== undefined) earlierStates.push({ state: after, text: stateText(after) });
      });
      for (const { state, text } of earlierStates) expect(stateText(state)).toBe(text);
    });
  });
});

/** Tools are compiled when first seen, so only the existing ones can be frozen. */
function frozenPolicy(policy: CompiledPolicy): CompiledPolicy {
  frozen(policy.ladder);
  frozen(policy.loops);
  frozen(policy.budgets);
  return policy;
}

test("tenants and conversations share nothing, not even the ids of equal calls", () => {
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
