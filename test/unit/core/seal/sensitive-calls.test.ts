import { describe, expect, test } from "vitest";
import { decide } from "../../../../services/core/decide/decide.ts";
import type { SealedValue } from "../../../../services/core/decision.ts";
import type { CallAllowed } from "../../../../services/core/events.ts";
import { actionDigest } from "../../../../services/core/hash.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { openedText } from "../../../../services/core/seal/open-arguments.ts";
import { sealProposal, withoutClear } from "../../../../services/core/seal/seal-arguments.ts";
import { MissingSecretError } from "../../../../services/core/seal/sealing.ts";
import type { ConversationState } from "../../../../services/core/state/state.ts";
import { compiled, sealingOf } from "../../../support/core/compile.ts";
import { stateFromText, stateText } from "../../../support/core/state-text.ts";
import { ofType, type Story, startStory } from "../../../support/decider-spec.ts";

const CARD = "4111222233334444";

const POLICY: PolicyDocument = {
  authorization: {
    tiers: [{ name: "big", pattern: "refund", action: "hitl", expires_ms: 60_000, approvals: 2 }],
  },
  tool_schemas: {
    charge: {
      effects: [{ resource: "card/{card}/order/{order}", kind: "charge" }],
      sensitive: ["card"],
      input_schema: {
        type: "object",
        required: ["card"],
        properties: { card: { type: "string", pattern: "^[0-9 ]+$" }, order: {} },
      },
      normalizers: {
        card: [
          { name: "strip_punctuation", arguments: [] },
          { name: "collapse_space", arguments: [] },
        ],
      },
    },
    credit: { effects: [{ resource: "card/{card}", kind: "transfer" }], sensitive: ["card"] },
    refund: { sensitive: ["to.card"] },
    look: { read_only: true, reads: ["card/{card}"], sensitive: ["card"] },
  },
};

/** All texts that are stored of a story: events and state. */
function written(story: Story): string {
  const { state } = story;
  return JSON.stringify(story.journal) + (state === undefined ? "" : stateText(state));
}

function digestIn(text: string): string {
  return /sealed:[^:]+:[0-9a-f]{64}/.exec(text)?.[0] ?? "none";
}

describe("the stored form of a call", () => {
  test("has a digest in place of the value, and the sealed value", () => {
    const story = startStory(POLICY);
    const call = story.allowed("charge", { card: CARD, order: 7 });
    expect(JSON.parse(call.arguments.text)).toEqual({
      card: expect.stringMatching(/^sealed:k1:[0-9a-f]{64}$/),
      order: 7,
    });
    expect(call.arguments.sealed).toEqual([
      {
        path: "/card",
        keyId: "k1",
        nonce: expect.stringMatching(/^[0-9a-f]{24}$/),
        sealed: expect.stringMatching(/^[0-9a-f]{68}$/),
      },
    ]);
    expect(call.facts.resources).toEqual([`card/${digestIn(call.arguments.text)}/order/7`]);
    expect(openedText(call, sealingOf("k1"))).toBe(`{"card":"${CARD}","order":7}`);
    expect(written(story)).not.toContain(CARD);
  });

  test("cannot be found by trial of values without the secret", () => {
    const {
      arguments: { text, digest: argumentsDigest, actionKey },
    } = startStory(POLICY).allowed("charge", { card: CARD, order: 7 });
    const clear = actionDigest("charge", JSON.stringify({ card: CARD, order: 7 }));
    expect([argumentsDigest, actionKey]).not.toContain(clear);
    expect(argumentsDigest).toBe(actionDigest("charge", text));
  });

  test("has equal digests only for equal values of one tenant, whatever the tool", () => {
    const digest = (tool: string, tenantId: string, card: string) =>
      digestIn(
        ofType(startStory(POLICY).proposed(tool, { card, order: 1 }, { tenantId }), "allowed")
          .arguments.text,
      );
    const one = digest("charge", "a", CARD);
    expect(digest("credit", "a", CARD)).toBe(one);
    expect(digest("charge", "b", CARD)).not.toBe(one);
    expect(digest("charge", "a", "4111")).not.toBe(one);
  });

  test.each([
    ["wrong by its schema", { card: `x${CARD}` }],
    ["an object in place of a text", { card: { number: CARD, [CARD]: 1 } }],
    ["a list", { card: [CARD] }],
    ["not JSON", `{"card":"${CARD}",}`],
    ["an object with the argument twice", `{"card":"1","card":"${CARD}"}`],
    ["a number that is not exact", `{"card":${CARD}${CARD}}`],
    ["an object with a nested key twice", `{"card":{"${CARD}":1,"${CARD}":2}}`],
    ["not an object", JSON.stringify([CARD])],
  ])("hides arguments that are %s", (_what, args) => {
    const story = startStory(POLICY);
    const assistantText = `I will charge ${CARD} now`;
    const { refusal } = story.refused("charge", args, { assistantText });
    expect(["invalid_arguments", "malformed"]).toContain(refusal.reason);
    expect(written(story)).not.toContain(CARD);
    expect(refusal.message.length).toBeGreaterThan(20);
  });

  test("hides bytes that are no text, and proposals that the caller rejected", () => {
    const story = startStory(POLICY);
    const bytes = Uint8Array.from([0xff, ...Buffer.from(CARD)]);
    story.refused("charge", "", { arguments: bytes });
    const rejected = { reason: "malformed", message: `number \`${CARD}\` is not exact` } as const;
    story.refused("charge", { card: CARD }, { rejected });
    expect(written(story)).not.toContain(CARD);
    expect(
      story.refused("charge", {}, { rejected: { reason: "misrouted", message: "wrong key" } })
        .refusal.message,
    ).toContain("wrong key");
  });

  test.each([
    ["not JSON", { arguments: `{"card":"${CARD}",}` }, "at offset"],
    ["no object", { arguments: `["${CARD}"]` }, "not a JSON object"],
    ["rejected", { rejected: { reason: "malformed", message: CARD } as const }, "cannot be read"],
  ])("is the same where the caller has sealed what is %s, once", (_what, over, message) => {
    const policy = compiled(POLICY);
    const proposal = startStory(POLICY).proposal("charge", { card: CARD }, over);
    const sealed = sealProposal(undefined, proposal, policy);
    expect(sealProposal(undefined, sealed, policy)).toBe(sealed);
    const events = decide(undefined, sealed, policy, 1_000);
    expect(events).toEqual(decide(undefined, proposal, policy, 1_000));
    expect(events).toMatchObject([{ refusal: { message: expect.stringContaining(message) } }]);
    expect(JSON.stringify([withoutClear(sealed), events])).not.toContain(CARD);
  });

  test("reports a problem of an argument, as for any other", () => {
    const { refusal } = startStory(POLICY).refused("charge", { order: 1, card: 5 });
    expect(refusal.problems).toEqual([
      { path: "$.card", message: "must be string, not number" },
      { path: "$.card", message: "`strip_punctuation` needs text, found a number" },
    ]);
  });
});

describe("identity", () => {
  test("is computed from normalized values: another spelling is a duplicate", () => {
    const story = startStory(POLICY);
    story.done("charge", { card: "4111 2222", order: 7 });
    expect(story.reason("charge", { card: "4111  2222", order: 7 })).toBe("duplicate_call");
    story.allowed("charge", { card: "4111 3333", order: 7 });
  });

  test("treats a digest that an agent writes like any other value", () => {
    const story = startStory(POLICY);
    const {
      arguments: { text },
    } = story.done("credit", { card: CARD });
    story.allowed("credit", { card: digestIn(text) });
  });

  test("answers the same call again with its decision, sealed as it was", () => {
    const story = startStory(POLICY);
    const first = story.allowed("credit", { card: CARD }, { callId: "x", step: "s" });
    const again = story.proposed("credit", { card: CARD }, { callId: "x", step: "s" });
    expect(ofType(again, "repeated").decision).toEqual(first);
    expect(story.reason("credit", { card: "1" }, { callId: "x", step: "s" })).toBe(
      "call_id_conflict",
    );
  });

  test("makes one effect of all tools that name the value", () => {
    const story = startStory(POLICY);
    story.done("credit", { card: CARD });
    const { refusal } = story.refused("charge", { card: CARD, order: 1 });
    expect(refusal.reason).toBe("side_effect_conflict");
    expect(written(story)).not.toContain(CARD);
  });

  test("answers a read from memory", () => {
    const story = startStory(POLICY);
    story.done("look", { card: CARD }, "found");
    expect(story.refused("look", { card: CARD }).answered).not.toBeNull();
  });
});

describe("a held call", () => {
  function held() {
    const story = startStory(POLICY);
    const hold = story.held("refund", { to: { card: CARD, name: "Ann" }, sum: 5 });
    return { story, hold };
  }

  function restarted(story: Story): void {
    story.state = stateFromText(stateText(story.state as ConversationState));
  }

  test("is allowed with the arguments that were sent, also after a restart between two approvals", () => {
    const { story, hold } = held();
    restarted(story);
    expect(story.approved(hold, { by: "one" }).type).toBe("ruled");
    restarted(story);
    const call = ofType(story.approved(hold, { by: "two" }), "allowed");
    expect(openedText(call, sealingOf("k1"))).toBe(
      `{"sum":5,"to":{"card":"${CARD}","name":"Ann"}}`,
    );
    expect(call.arguments).toEqual(hold.arguments);
    expect(written(story)).not.toContain(CARD);
  });

  test("has no sealed value once it is denied", () => {
    const { story, hold } = held();
    expect(ofType(story.denied(hold), "refused").arguments.sealed).toEqual([]);
    expect(written(story)).not.toContain(CARD);
  });

  test("is refused where a sealed value is damaged, or of another decision", () => {
    for (const change of [
      { sealed: "00".repeat(34) },
      { nonce: "00".repeat(12) },
      { path: "/sum" },
      { sealed: "" },
    ]) {
      const { story, hold } = held();
      story.approved(hold, { by: "one" });
      const text = stateText(story.state as ConversationState);
      const { keyId, nonce, path, sealed } = hold.arguments.sealed[0] as SealedValue;
      const own = { keyId, nonce, path, sealed };
      const forged = text.replaceAll(JSON.stringify(own), JSON.stringify({ ...own, ...change }));
      expect(forged).not.toBe(text);
      story.state = stateFromText(forged);
      const { refusal } = ofType(story.approved(hold, { by: "two" }), "refused");
      expect(refusal).toMatchObject({ reason: "internal_error" });
      expect(refusal.message).toContain("cannot be opened. Propose the call again.");
      expect(written(story)).not.toContain(CARD);
    }
  });

  test("stays sealed where the policy no longer declares it sensitive", () => {
    const { story, hold } = held();
    const { sensitive: _gone, ...refund } = POLICY.tool_schemas?.["refund"] ?? {};
    story.under({ ...POLICY, tool_schemas: { refund } });
    story.approved(hold, { by: "one" });
    const call = ofType(story.approved(hold, { by: "two" }), "allowed");
    expect(call.arguments.sealed).toEqual(hold.arguments.sealed);
    expect(written(story)).not.toContain(CARD);
  });

  test("is sealed from its approval on where the policy declares it sensitive since then", () => {
    const { sensitive: _later, ...refund } = POLICY.tool_schemas?.["refund"] ?? {};
    const story = startStory({ ...POLICY, tool_schemas: { refund } });
    const hold = story.held("refund", { to: { card: CARD } });
    expect(hold.arguments.text).toContain(CARD);
    story.under(POLICY);
    story.approved(hold, { by: "one" });
    const call = ofType(story.approved(hold, { by: "two" }), "allowed");
    expect(call.arguments.text).not.toContain(CARD);
    expect(openedText(call, sealingOf("k1"))).toBe(hold.arguments.text);
  });
});

describe("secrets", () => {
  test("stop the gate when they are missing: nothing is decided without them", () => {
    const story = startStory(POLICY, sealingOf("k1"));
    story.under(POLICY, { ...sealingOf("k2"), keyId: "k1" });
    expect(() => story.proposed("charge", { card: CARD })).toThrow(MissingSecretError);
    expect(() => story.proposed("charge", "{")).toThrow(/key id `k1`/);
    expect(story.journal).toEqual([]);
  });

  test("do not change for a conversation that has begun with an earlier one", () => {
    const story = startStory(POLICY, sealingOf("k1"));
    story.done("credit", { card: CARD });
    story.under(POLICY, sealingOf("k2", "k1"));
    expect(story.reason("credit", { card: CARD })).toBe("duplicate_call");
    const other = story.allowed("credit", { card: "1" });
    expect(other.arguments.text).toContain("sealed:k1:");
    const fresh = startStory(POLICY, sealingOf("k2", "k1")).allowed("credit", { card: CARD });
    expect(fresh.arguments.text).toContain("sealed:k2:");
  });

  test("are needed for as long as a conversation has a sealed value", () => {
    const story = startStory(POLICY, sealingOf("k1"));
    story.done("credit", { card: CARD });
    story.under(POLICY, sealingOf("k2"));
    expect(() => story.proposed("credit", { card: CARD })).toThrow(MissingSecretError);
  });

  test("open nothing that another one sealed", () => {
    const call: CallAllowed = startStory(POLICY).allowed("credit", { card: CARD });
    const other = { open: sealingOf("x").open };
    const wrong = { open: (_id: string, ...rest: [never, never]) => other.open("x", ...rest) };
    expect(openedText(call, wrong as unknown as typeof other)).toBeNull();
    expect(openedText({ ...call, decisionId: "another" }, sealingOf("k1"))).toBeNull();
    expect(openedText({ ...call, tenantId: "another" }, sealingOf("k1"))).toBeNull();
  });
});

describe("a recorded journal", () => {
  const recorded = { ...sealingOf("other"), recorded: true };

  test("is decided again from its digests, without schema and normalizers", () => {
    const story = startStory(POLICY);
    const first = story.done("charge", { card: CARD, order: 7 });
    const again = startStory(POLICY, recorded);
    const call = again.done("charge", first.arguments.text);
    expect(call.arguments.text).toBe(first.arguments.text);
    expect(call.arguments.sealed).toEqual([]);
    expect(again.reason("charge", first.arguments.text)).toBe("duplicate_call");
  });
});
