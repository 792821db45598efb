// Effects with `scope: tenant`: what is refused in another conversation, and which policies are in error.
import { describe, expect, test } from "vitest";
import { decide } from "../../../../services/core/decide/decide.ts";
import type { CallAllowed, GateEvent } from "../../../../services/core/events.ts";
import type { ProposalInput } from "../../../../services/core/inputs.ts";
import { compilePolicy } from "../../../../services/core/policy/compile-policy.ts";
import type { DeclaredEffect, PolicyDocument } from "../../../../services/core/policy/document.ts";
import { evolve } from "../../../../services/core/state/evolve.ts";
import type { ConversationState } from "../../../../services/core/state/state.ts";
import { capabilities, compiled } from "../../../support/core/compile.ts";

const DAY = 86_400_000;
const EFFECT: DeclaredEffect = { resource: "order/{id}/payment", kind: "charge", scope: "tenant" };

class Tenant {
  readonly states = new Map<string, ConversationState>();
  readonly #policy;
  nowMs = DAY;
  #calls = 0;

  constructor(document: PolicyDocument) {
    this.#policy = compiled(document);
  }

  propose(conversationId: string, tool: string, overrides: Partial<ProposalInput> = {}): GateEvent {
    this.#calls += 1;
    const callId = `call-${this.#calls}`;
    const [decision] = this.take({
      ...{ type: "proposal", tenantId: "acme", conversationId, callId, agentId: null },
      ...{ turn: "1", step: callId, tool, arguments: '{"id":"7"}', assistantText: null },
      ...{ estimatedCost: null, confirmation: null, rejected: null },
      ...overrides,
    });
    return decision as GateEvent;
  }

  fail({ conversationId, decisionId, call }: CallAllowed, effect: "none" | "possible"): void {
    this.take({
      ...{ type: "result", tenantId: "acme", conversationId, decisionId, callId: call.callId },
      ...{ status: "failed", effect, output: null, outputDigest: null, outputBytes: null },
      ...{ error: { code: "503", message: "busy", retryable: true }, durationMs: null, cost: null },
    });
  }

  take(input: Parameters<typeof decide>[1] & { readonly conversationId: string }) {
    const state = this.states.get(input.conversationId);
    const read = (_: string, claim: string) => this.states.get(claim);
    const events = decide(state, input, this.#policy, this.nowMs, read);
    for (const event of events) {
      const next = evolve(this.states.get(event.conversationId), event);
      if (next !== undefined) this.states.set(event.conversationId, next);
    }
    return events;
  }
}

const shop = (more: Partial<DeclaredEffect> = {}): Tenant =>
  new Tenant({
    tool_schemas: {
      pay: { effects: [{ ...EFFECT, ...more }] },
      charge: { effects: [{ ...EFFECT, ...more }] },
      local: { effects: [{ resource: EFFECT.resource, kind: "charge" }] },
    },
  });

const reason = (event: GateEvent): string =>
  event.type === "refused" ? event.refusal.reason : event.type;

describe("an effect of the tenant", () => {
  test("is refused in another conversation, without a word of that one", () => {
    const tenant = shop();
    const first = tenant.propose("secret-conversation", "pay") as CallAllowed;
    const second = tenant.propose("other", "charge");
    expect(second).toMatchObject({
      type: "refused",
      refusal: {
        reason: "side_effect_conflict",
        conflict: { resource: "order/7/payment", path: ["pay", "order/7/payment", "charge"] },
      },
    });
    const text = JSON.stringify(second);
    expect(text).toContain("`pay` (in another conversation) already had this effect");
    for (const name of ["secret-conversation", first.decisionId, first.call.callId]) {
      expect(text).not.toContain(`"${name}"`);
    }
  });

  test("is that of a tool with the same scope: others look at their own conversation", () => {
    const tenant = shop();
    tenant.propose("a", "pay");
    expect(reason(tenant.propose("b", "local"))).toBe("allowed");
    expect(reason(tenant.propose("a", "local"))).toBe("side_effect_conflict");
  });

  test("may be tried again in its own conversation after a failure in doubt, and in no other", () => {
    const tenant = shop();
    tenant.fail(tenant.propose("a", "pay") as CallAllowed, "possible");
    expect(reason(tenant.propose("b", "pay"))).toBe("side_effect_conflict");
    const again = tenant.propose("a", "pay");
    expect(again).toMatchObject({ type: "allowed", execution: { attempt: 2 } });
    tenant.fail(again as CallAllowed, "none");
    // The first attempt may still have had the effect.
    expect(reason(tenant.propose("b", "pay"))).toBe("side_effect_conflict");
  });

  test("only warns of a failure in doubt where `on_failure` says so", () => {
    const tenant = shop({ on_failure: "warn" });
    tenant.fail(tenant.propose("a", "pay") as CallAllowed, "possible");
    expect(tenant.propose("b", "pay")).toMatchObject({
      type: "allowed",
      notices: { warnings: [{ reason: "side_effect_conflict" }] },
    });
  });

  test("is freed by a failure without effect, and by another call's end alone", () => {
    const tenant = shop();
    const first = tenant.propose("a", "pay") as CallAllowed;
    tenant.fail(first, "none");
    const second = tenant.propose("b", "pay") as CallAllowed;
    expect(second.type).toBe("allowed");
    expect(reason(tenant.propose("a", "charge"))).toBe("side_effect_conflict");
  });

  test("may be undone by another conversation, and then happens again", () => {
    const both: DeclaredEffect = { resource: "box/{id}", kind: "create", scope: "tenant" };
    const tenant = new Tenant({
      tool_schemas: {
        make: { effects: [both], repeatable: true },
        drop: { effects: [{ ...both, kind: "delete" }] },
      },
    });
    expect(reason(tenant.propose("a", "make"))).toBe("allowed");
    expect(reason(tenant.propose("b", "drop"))).toBe("allowed");
    expect(reason(tenant.propose("c", "make"))).toBe("allowed");
    expect(reason(tenant.propose("d", "make"))).toBe("allowed");
  });

  test("lasts for the longest life of a conversation after its call", () => {
    const tenant = shop();
    tenant.propose("a", "pay");
    tenant.nowMs += compiled({}).conversation.maxAgeMs - 1;
    expect(reason(tenant.propose("b", "pay"))).toBe("side_effect_conflict");
    tenant.nowMs += 1;
    expect(reason(tenant.propose("c", "pay"))).toBe("allowed");
  });
});

describe("a policy with `scope: tenant` is in error", () => {
  const problemsOf = (document: PolicyDocument): readonly string[] => {
    const result = compilePolicy(document, capabilities, { revision: "sha256:x", keyId: "k" });
    return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
  };

  test.each<readonly [string, object, RegExp]>([
    [
      "where the effect may happen again",
      { exclusive: false },
      /is for an effect that happens once/,
    ],
    ["where the kind happens again", { kind: "update" }, /is for an effect that happens once/],
    ["where the result names the resource", { resource: "x/{result.id}" }, /`\{result.…\}`/],
    ["where the resource is sensitive", { resource: "x/{card.number}" }, /argument `card.number`/],
  ])("%s", (_what, more, problem) => {
    const effect = { ...EFFECT, ...more };
    const tool = { sensitive: ["card"], effects: [effect] };
    const [first, ...others] = problemsOf({ tool_schemas: { pay: tool } });
    expect(first).toMatch(/^tool_schemas\.pay\.effects\[0\]\.scope: /);
    expect(first).toMatch(problem);
    expect(others).toEqual([]);
  });

  test("with `of`, and with edges", () => {
    const made: DeclaredEffect = { resource: "draft/{result.id}", kind: "create" };
    const sent: DeclaredEffect = {
      ...{ resource: "draft/{id}", kind: "send", of: "make", scope: "tenant" },
    };
    const tools = { make: { effects: [made] }, send: { effects: [sent] } };
    expect(problemsOf({ tool_schemas: tools })[0]).toContain("does not go with `of`");
    const edges = { contains: [["a/{id}", "b/{id}"]] as const };
    const [first] = problemsOf({ edges, tool_schemas: { pay: { effects: [EFFECT] } } });
    expect(first).toContain("edges: `edges` do not go with `scope: tenant`");
  });
});
