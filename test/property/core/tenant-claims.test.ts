// Effects with `scope: tenant` under random interleavings of several conversations, against a plain model: who has
// the effect on a thing, in whatever conversation.
import fc from "fast-check";
import { expect, test } from "vitest";
import { trieEntries } from "../../../services/collections/trie.ts";
import { decide } from "../../../services/core/decide/decide.ts";
import type { DecisionEvent, GateEvent } from "../../../services/core/events.ts";
import type { GateInput, ResultInput, VerdictInput } from "../../../services/core/inputs.ts";
import { isClaimId } from "../../../services/core/state/claims.ts";
import { evolve } from "../../../services/core/state/evolve.ts";
import type { ConversationState } from "../../../services/core/state/state.ts";
import { compiled } from "../../support/core/compile.ts";
import { stateFromText, stateText } from "../../support/core/state-text.ts";

const MINUTE = 60_000;

const POLICY = compiled({
  checks: { failure_streak: "off", failure_run: "off", near_duplicate: "off" },
  escalation: { ask: "off", options: "off", user_input: "off", end: { at: "off", lasts: "turn" } },
  acknowledgement: { mode: "off" },
  authorization: {
    tiers: [{ name: "asked", pattern: "wire", action: "hitl", expires_ms: 5 * MINUTE }],
  },
  tool_schemas: {
    charge: { effects: [{ resource: "order/{id}/payment", kind: "charge", scope: "tenant" }] },
    wire: { effects: [{ resource: "order/{id}/payment", kind: "charge", scope: "tenant" }] },
    open: { effects: [{ resource: "order/{id}/ticket", kind: "create", scope: "tenant" }] },
  },
});

type Tool = "charge" | "wire" | "open";

/** A call that has, or may have, its effect. */
interface Live {
  readonly tenantId: string;
  readonly thing: string;
  readonly tool: Tool;
  isDoubt: boolean;
}

type Decided = {
  readonly tenantId: string;
  readonly conversationId: string;
  readonly callId: string;
};

class World {
  states = new Map<string, ConversationState>();
  readonly journal: GateEvent[] = [];
  readonly live = new Map<string, Live>();
  readonly names: string[] = [];
  readonly holds = new Map<string, string>();
  readonly decided = new Map<string, Decided>();
  nowMs = 10 * MINUTE;
  #calls = 0;

  take(tenantId: string, conversationId: string, input: GateInput): readonly GateEvent[] {
    const state = this.states.get(`${tenantId}/${conversationId}`);
    const read = (tenant: string, claim: string): ConversationState | undefined =>
      this.states.get(`${tenant}/${claim}`);
    const events = decide(state, input, POLICY, this.nowMs, read);
    fold(this.states, events);
    this.journal.push(...events);
    for (const event of events) this.#learn(event);
    return events;
  }

  propose(tenantId: string, conversationId: string, tool: Tool, id: string, confirms: boolean) {
    this.#calls += 1;
    const callId = `call-${this.#calls}`;
    const taken = [...this.live.values()].some(
      (one) =>
        one.tenantId === tenantId &&
        one.thing === `${id} ${tool === "open"}` &&
        // A creation that may have happened only warns.
        !(one.isDoubt && tool === "open"),
    );
    const [decision] = this.take(tenantId, conversationId, {
      ...{ type: "proposal", tenantId, conversationId, callId, agentId: null },
      ...{ turn: "1", step: callId, tool, arguments: JSON.stringify({ id, note: callId }) },
      ...{ assistantText: null, estimatedCost: null, rejected: null },
      confirmation: confirms ? `yes-${callId}` : null,
    });
    const { decisionId } = decision as DecisionEvent;
    this.decided.set(decisionId, { tenantId, conversationId, callId });
    if (decision?.type === "allowed" || decision?.type === "held") {
      const thing = `${id} ${tool === "open"}`;
      this.live.set(decisionId, { tenantId, thing, tool, isDoubt: false });
      this.names.push(decisionId);
      if (decision.type === "held") this.holds.set(decisionId, decision.holdId);
    }
    const reason = decision?.type === "refused" ? decision.refusal.reason : null;
    expect(reason).toBe(taken && !confirms ? "side_effect_conflict" : null);
  }

  report(decisionId: string, status: ResultInput["status"], effect: ResultInput["effect"]): void {
    const { tenantId, conversationId, callId } = this.decided.get(decisionId) as Decided;
    this.take(tenantId, conversationId, {
      ...{ type: "result", tenantId, conversationId, callId, decisionId, status },
      ...{ output: null, outputDigest: null, outputBytes: null, error: null },
      ...{ durationMs: null, cost: null },
      ...(status === "failed" && effect !== undefined ? { effect } : {}),
    });
  }

  rule(decisionId: string, kind: VerdictInput["kind"], outcome: VerdictInput["outcome"]): void {
    const { tenantId, conversationId } = this.decided.get(decisionId) as Decided;
    this.take(tenantId, conversationId, {
      ...{ type: "verdict", kind, tenantId, conversationId, decisionId, outcome },
      ...{ approvalId: this.holds.get(decisionId) ?? null, tier: null, tool: null },
      ...{ calls: null, untilMs: null, by: "ann", reason: null },
    });
  }

  tick(): void {
    for (const [key, { tenantId, conversationId }] of [...this.states]) {
      if (isClaimId(conversationId)) expect(this.states.get(key)?.open.size).toBe(0);
      else this.take(tenantId, conversationId, { type: "tick" });
    }
  }

  restart(): void {
    this.states = new Map(
      [...this.states].map(([key, state]) => [key, stateFromText(stateText(state))]),
    );
  }

  #learn(event: GateEvent): void {
    if (event.type === "refused" && event.approval.approvalId !== null) {
      this.live.delete(event.decisionId);
      return;
    }
    const isFree =
      (event.type === "reconciled" && event.outcome !== "succeeded") ||
      (event.type === "result_recorded" &&
        (event.status === "not_executed" || event.effect === "none"));
    if (event.type !== "reconciled" && event.type !== "result_recorded") return;
    if (isFree) this.live.delete(event.decisionId);
    const call = this.live.get(event.decisionId);
    if (call === undefined) return;
    if (event.type === "reconciled" || event.status === "succeeded") call.isDoubt = false;
    else if (event.status === "failed") call.isDoubt = true;
  }
}

function fold(states: Map<string, ConversationState>, events: readonly GateEvent[]): void {
  for (const event of events) {
    const key = `${event.tenantId}/${event.conversationId}`;
    const state = evolve(states.get(key), event);
    if (state !== undefined) states.set(key, state);
  }
}

const tenant = fc.constantFrom("t1", "t1", "t2");
const conversation = fc.constantFrom("a", "b", "c");
const call = fc.nat();

type Step = (world: World) => void;

const at = (world: World, index: number): string | undefined =>
  world.names[world.names.length === 0 ? 0 : index % world.names.length];

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        tenant,
        conversation,
        fc.constantFrom<Tool>("charge", "charge", "wire", "open"),
        fc.constantFrom("1", "2"),
        fc.nat(7),
      )
      .map(
        ([tenantId, conversationId, tool, id, chance]): Step =>
          (world) => {
            world.propose(tenantId, conversationId, tool, id, chance === 0);
          },
      ),
  },
  {
    weight: 5,
    arbitrary: fc
      .tuple(
        call,
        fc.constantFrom<ResultInput["status"]>(
          ...(["started", "succeeded", "failed", "failed", "not_executed", "unknown"] as const),
        ),
        fc.constantFrom("none" as const, "possible" as const),
      )
      .map(
        ([index, status, effect]): Step =>
          (world) => {
            const id = at(world, index);
            if (id !== undefined) world.report(id, status, effect);
          },
      ),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        call,
        fc.constantFrom<VerdictInput["kind"]>("approve", "deny", "cancel", "reconcile"),
        fc.constantFrom("succeeded" as const, "failed" as const, "not_executed" as const),
      )
      .map(
        ([index, kind, outcome]): Step =>
          (world) => {
            const id = at(world, index);
            if (id !== undefined) world.rule(id, kind, kind === "reconcile" ? outcome : null);
          },
      ),
  },
  fc.nat(12).map(
    (minutes): Step =>
      (world) => {
        world.nowMs += minutes * MINUTE;
        world.tick();
      },
  ),
  fc.constant<Step>((world) => world.restart()),
);

test("a call is refused exactly while a call of some conversation has the effect", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const world = new World();
      for (const one of steps) one(world);
      const replayed = new Map<string, ConversationState>();
      fold(replayed, world.journal);
      expect([...replayed.keys()]).toEqual([...world.states.keys()]);
      for (const [key, state] of replayed) {
        expect(stateText(state)).toBe(stateText(world.states.get(key) as ConversationState));
      }
    }),
  );
});

test("the claims of a thing name its calls, and nothing else does", () => {
  const world = new World();
  world.propose("t1", "a", "charge", "1", false);
  const claims = [...world.states.values()].filter(({ conversationId }) =>
    isClaimId(conversationId),
  );
  const held = claims.flatMap(({ effects }) => [...trieEntries(effects)]);
  expect(held.map(([resource, holders]) => [resource, holders.map((one) => one.claimant)])).toEqual(
    [["order/1/payment", ["a"]]],
  );
});
