// Effects of failed calls: one key for all attempts, whatever is reported between them, until the
// effect is certain; and which outputs count as failures.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decide } from "../../../services/core/decide/decide.ts";
import type { CallAllowed, GateEvent } from "../../../services/core/events.ts";
import {
  effectOfThrown,
  FAILURE_FORMS,
  failureForm,
} from "../../../services/core/failure-forms.ts";
import type { GateInput, ProposalInput, ResultInput } from "../../../services/core/inputs.ts";
import type { EffectKind } from "../../../services/core/policy/document.ts";
import { evolve } from "../../../services/core/state/evolve.ts";
import type { ConversationState } from "../../../services/core/state/state.ts";
import { compiled } from "../../support/core/compile.ts";
import { stateFromText, stateText } from "../../support/core/state-text.ts";

const payment = (kind: EffectKind) => ({ effects: [{ resource: "order/{id}/payment", kind }] });

const POLICY = compiled({
  checks: { failure_streak: "off", failure_run: "off" },
  escalation: { ask: "off", options: "off", user_input: "off", end: { at: "off", lasts: "turn" } },
  acknowledgement: { mode: "off" },
  tool_schemas: {
    charge: payment("charge"),
    pay: payment("charge"),
    open: payment("create"),
    look: { read_only: true },
  },
});

/** One conversation, whose gate may be restarted between any two inputs. */
class Conversation {
  #state: ConversationState | undefined;
  /** Number of proposals so far. */
  calls = 0;
  #turn = 0;

  restart(): void {
    if (this.#state !== undefined) this.#state = stateFromText(stateText(this.#state));
  }

  nextTurn(): void {
    this.#turn += 1;
  }

  propose(tool: string, confirmation: string | null = null): GateEvent {
    this.calls += 1;
    const proposal: ProposalInput = {
      type: "proposal",
      tenantId: "tenant",
      conversationId: "conversation",
      callId: `call-${this.calls}`,
      agentId: null,
      turn: String(this.#turn),
      step: String(this.calls),
      tool,
      arguments: '{"id":"7"}',
      assistantText: null,
      estimatedCost: null,
      confirmation,
      rejected: null,
    };
    return this.#take(proposal);
  }

  report(call: CallAllowed, result: Partial<ResultInput>): GateEvent {
    return this.#take({
      type: "result",
      tenantId: "tenant",
      conversationId: "conversation",
      callId: call.call.callId,
      decisionId: call.decisionId,
      status: "failed",
      output: null,
      outputDigest: null,
      outputBytes: null,
      error: null,
      durationMs: null,
      cost: null,
      ...result,
    });
  }

  reconcile(call: CallAllowed, outcome: "succeeded" | "failed" | "not_executed"): GateEvent {
    return this.#take({
      type: "verdict",
      kind: "reconcile",
      tenantId: "tenant",
      conversationId: "conversation",
      decisionId: call.decisionId,
      outcome,
      by: "boss",
      ...{ approvalId: null, tier: null, tool: null, calls: null, untilMs: null, reason: null },
    });
  }

  #take(input: GateInput): GateEvent {
    const [event] = decide(this.#state, input, POLICY, 1_000_000 + this.calls);
    if (event === undefined) throw new Error("an input without an answer");
    this.#state = evolve(this.#state, event);
    return event;
  }
}

function allowed(event: GateEvent): CallAllowed {
  if (event.type !== "allowed") throw new Error(`${event.type} where allowed was expected`);
  return event;
}

const words = fc.oneof(fc.string(), fc.constantFrom("503", "declined", "no such order", "timeout"));

const oneTry = fc.record({
  newTurn: fc.boolean(),
  restart: fc.boolean(),
  confirmed: fc.boolean(),
  result: fc.oneof(
    fc.record({
      effect: fc.constantFrom(null, "possible" as const, "none" as const),
      error: fc.option(
        fc.record({
          code: fc.option(words),
          message: words,
          retryable: fc.constantFrom(null, true, false),
        }),
      ),
      output: fc.option(words),
    }),
    fc.constant({ status: "not_executed" as const }),
  ),
});

type Try = typeof oneTry extends fc.Arbitrary<infer T> ? T : never;

const tries = fc.array(oneTry, { minLength: 1, maxLength: 12 });

/** One more attempt, under the key of the first; the call, where it may have taken effect. */
function tryAgain(
  conversation: Conversation,
  { execution, keyId }: CallAllowed,
  { newTurn, restart, confirmed, result }: Try,
): CallAllowed | undefined {
  if (newTurn) conversation.nextTurn();
  if (restart) conversation.restart();
  const again = allowed(
    conversation.propose(
      "charge",
      confirmed ? `yes-${execution.decisionId}-${conversation.calls}` : null,
    ),
  );
  expect(again.execution.decisionId).toBe(execution.decisionId);
  expect(again.keyId).toBe(keyId);
  conversation.report(again, result);
  if (restart) conversation.restart();
  expect(conversation.propose("pay")).toMatchObject({
    type: "refused",
    refusal: {
      reason: "side_effect_conflict",
      message: expect.stringContaining("failed and may have taken effect"),
    },
  });
  return "status" in result || result.effect === "none" ? undefined : again;
}

describe("a call that failed and may have taken effect", () => {
  test("continues under one key and keeps its effect until the effect is certain", () => {
    fc.assert(
      fc.property(
        tries,
        fc.constantFrom("report" as const, "reconcile" as const),
        (attempts, settledBy) => {
          const conversation = new Conversation();
          const first = allowed(conversation.propose("charge"));
          conversation.report(first, { error: { code: null, message: "x", retryable: null } });
          let doubted = first;
          for (const attempt of attempts)
            doubted = tryAgain(conversation, first, attempt) ?? doubted;
          const settled =
            settledBy === "report"
              ? conversation.report(doubted, { status: "failed", effect: "none" })
              : conversation.reconcile(doubted, "not_executed");
          expect(settled.type).not.toBe("ignored");
          const anew = allowed(conversation.propose("charge"));
          expect(anew.execution).toMatchObject({ decisionId: anew.decisionId, attempt: 1 });
          conversation.report(anew, { effect: "none" });
          expect(conversation.propose("pay").type).toBe("allowed");
        },
      ),
    );
  });

  test.each(["succeeded", "failed", "not_executed"] as const)(
    "is settled once by a person: %s",
    (outcome) => {
      const conversation = new Conversation();
      const call = allowed(conversation.propose("charge"));
      conversation.report(call, {});
      expect(conversation.reconcile(call, outcome)).toMatchObject({ type: "reconciled", outcome });
      expect(conversation.reconcile(call, outcome).type).toBe("ignored");
      const type = outcome === "succeeded" ? "refused" : "allowed";
      expect(conversation.propose("pay").type).toBe(type);
    },
  );

  test("only warns another call where it was neither a payment nor a message", () => {
    const conversation = new Conversation();
    conversation.report(allowed(conversation.propose("open")), {});
    expect(conversation.propose("pay")).toMatchObject({
      type: "allowed",
      notices: { warnings: [{ reason: "side_effect_conflict" }] },
    });
  });
});

const successLike = fc.constantFrom(
  '{"error":"no errors","id":1}',
  '{"error":"N/A","paid":true}',
  "Error count: 0; charged",
  "Exception: none",
  "error 0: success",
  "Error: login broken - created",
);

describe("a reported status stands", () => {
  test("whatever the output looks like", () => {
    fc.assert(
      fc.property(fc.oneof(successLike, fc.string(), fc.json()), (output) => {
        const conversation = new Conversation();
        const call = allowed(conversation.propose("charge"));
        const event = conversation.report(call, { status: "succeeded", output });
        expect(event).toMatchObject({ status: "succeeded", effect: null });
      }),
    );
  });

  test("and no text turns the value that a handler returned into a failure", () => {
    fc.assert(
      fc.property(fc.oneof(successLike, fc.string()), (output) => {
        const conversation = new Conversation();
        const call = allowed(conversation.propose("charge"));
        const event = conversation.report(call, { status: "succeeded", basis: "returned", output });
        expect(event).toMatchObject({ status: "succeeded" });
        expect(failureForm(output)).toBeNull();
      }),
    );
  });

  test("and without one a failed write may have taken effect", () => {
    fc.assert(
      fc.property(fc.string(), (rest) => {
        const conversation = new Conversation();
        const call = allowed(conversation.propose("charge"));
        const output = `Error: ${rest}`;
        const event = conversation.report(call, { status: "succeeded", basis: "text", output });
        expect(event).toMatchObject({ status: "failed", effect: "possible" });
      }),
    );
  });
});

const other = fc.dictionary(
  fc.constantFrom("id", "message", "error", "data", "errors", "note"),
  fc.jsonValue(),
);

const failures = fc.oneof(
  other.map((more) => ({ ...more, content: [{ type: "text", text: "no" }], isError: true })),
  other.map((more) => ({ ...more, status: "error", content: "no", tool_call_id: "1" })),
  fc
    .tuple(fc.constantFrom("error-text", "error-json"), fc.jsonValue())
    .map(([type, value]) => ({ type, value })),
  other.map((more) => ({ ...more, success: false })),
  other.map((more) => ({ ...more, ok: false })),
);

describe("the forms of failure", () => {
  test("are recognized as values and as JSON text, and never say that there was no effect", () => {
    fc.assert(
      fc.property(failures, (output) => {
        expect(failureForm(output)).toMatchObject({ effect: "possible" });
        expect(failureForm(JSON.stringify(output))).toMatchObject({ effect: "possible" });
      }),
    );
  });

  test("are not recognized in anything that only resembles them", () => {
    fc.assert(
      fc.property(
        other,
        fc.constantFrom(
          { isError: false },
          { isError: "true" },
          { success: true },
          { ok: true },
          { status: "ok", content: "error" },
          {},
        ),
        (more, flag) => {
          expect(failureForm({ ...more, ...flag })).toBeNull();
          expect(failureForm([{ isError: true }, more])).toBeNull();
        },
      ),
    );
  });

  test("each have a source", () => {
    for (const { name, source } of FAILURE_FORMS)
      expect([name, source]).toEqual([name, expect.stringMatching(/^https:/)]);
  });

  test("never throw for any value", () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
      },
    );
    expect(failureForm(hostile)).toBeNull();
    expect(effectOfThrown(hostile)).toBe("possible");
    fc.assert(fc.property(fc.anything(), (value) => void failureForm(value)));
  });
});

describe("an exception", () => {
  const holders = fc.constantFrom(
    (status: number) => ({ status }),
    (status: number) => ({ statusCode: status }),
    (status: number) => ({ response: { status } }),
    (status: number) => ({ $metadata: { httpStatusCode: status } }),
  );

  test("says that there was no effect where a server refused the call or its author says so, and otherwise not", () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 599 }), holders, (status, held) => {
        const refused = status >= 400 && status < 500 && ![408, 409, 425].includes(status);
        const error = Object.assign(new Error("no"), held(status));
        expect(effectOfThrown(error)).toBe(refused ? "none" : "possible");
        expect(effectOfThrown(Object.assign(error, { callgateEffect: "none" }))).toBe("none");
        expect(effectOfThrown(Object.assign(error, { callgateEffect: "possible" }))).toBe(
          "possible",
        );
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(effectOfThrown(text)).toBe("possible");
        expect(effectOfThrown(new Error(text))).toBe("possible");
      }),
    );
  });
});
