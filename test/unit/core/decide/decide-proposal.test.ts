import { describe, expect, test } from "vitest";
import { decide } from "../../../../services/core/decide/decide.ts";
import { LIMITS } from "../../../../services/core/limits.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { HOUR, MINUTE, ofType, SECOND, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  limits: { arguments_bytes: 1_024 },
  tool_schemas: {
    look: { read_only: true },
    write: {},
    strict: {
      input_schema: {
        type: "object",
        required: ["id"],
        properties: { id: { type: "string" }, n: { type: "integer" } },
        additionalProperties: false,
      },
    },
    amount: { normalizers: { cents: [{ name: "to_int", arguments: [] }] } },
    charge: { effects: [{ resource: "order/{id}", kind: "charge" }] },
    ask: { risk_level: "HIGH" },
  },
};

describe("the envelope", () => {
  test("tells a sender that nobody vouches for nothing of the call whose name it uses", () => {
    const story = startStory({ tool_schemas: { look: {} } });
    const name = { callId: "c", step: "s" };
    story.allowed("look", { secret: 1 }, name);
    const rejected = { reason: "unauthenticated", message: "no token" } as const;
    const event = story.proposed("look", { secret: 1 }, { ...name, rejected });
    expect(event).toMatchObject({ type: "refused", refusal: { reason: "unauthenticated" } });
  });

  test("says when a call that finds no room can be made again, and decides it anew then", () => {
    const story = startStory({ tool_schemas: { look: {} } });
    const name = { callId: "c", step: "s" };
    const rejected = { reason: "overloaded", message: "the bound `b` is reached" } as const;
    const { refusal, counted } = story.refused("look", {}, { ...name, rejected });
    expect(refusal).toMatchObject({
      reason: "overloaded",
      retryable: true,
      disposition: "wait",
      resolution: { type: "retry_after", retryAfterMs: 60_000, approvalId: null },
      userMessage: expect.stringContaining("busy"),
    });
    expect(refusal.message).toContain("the bound `b` is reached. Wait at least 60 seconds.");
    expect(counted).toBe(false);
    expect(story.state).toBeUndefined();
    expect(story.allowed("look", {}, name).conversation.fresh).toBe(true);
  });

  test("forgets nothing while there is room", () => {
    const story = startStory({ tool_schemas: { look: { read_only: true }, write: {} } });
    expect(story.done("write").conversation.evicted).toBeNull();
    expect(story.allowed("look").conversation.evicted).toBeNull();
  });

  test("makes room for the name of a call whose envelope cannot be read", () => {
    const story = startStory({ tool_schemas: { look: {} } });
    const rejected = { reason: "malformed", message: "no text" } as const;
    for (let n = 1; n < LIMITS.callNames; n += 1) story.refused("look", {}, { rejected });
    expect(story.refused("look", {}, { rejected }).conversation.evicted).toBeNull();
    const evicted = story.refused("look", {}, { rejected }).conversation.evicted;
    expect(evicted).toMatchObject({ names: [expect.any(String)], reads: [], writes: [] });
  });

  test("refuses a killed tool for that, in an ended conversation too", () => {
    const story = startStory({ tool_schemas: { look: {} } });
    story.allowed("look");
    story.said({ kind: "end" });
    expect(story.reason("look", { n: 1 })).toBe("conversation_ended");
    story.under({ tool_schemas: { look: {} }, kill: { tools: ["look"] } });
    expect(story.reason("look", { n: 2 })).toBe("killed");
  });

  test.each(["malformed", "too_large", "misrouted"] as const)(
    "refuses a proposal that was rejected as %s for that reason",
    (reason) => {
      const rejected = { reason, message: "the shell said so" };
      const {
        refusal,
        conversation: { entersTurn },
        strike,
      } = startStory(POLICY).refused("look", {}, { rejected });
      expect(refusal).toMatchObject({
        reason,
        rule: "gate",
        level: 0,
        resolution: { type: "none" },
      });
      expect(refusal.message).toContain("the shell said so");
      expect([entersTurn, strike]).toEqual([false, null]);
    },
  );

  test.each([
    ["not JSON", "{", "malformed"],
    ["an object with a key twice", '{"a":1,"a":2}', "malformed"],
    ["a list", "[1]", "malformed"],
    ["null", "null", "malformed"],
    ["longer than the limit", `{"a":"${"x".repeat(1_024)}"}`, "too_large"],
  ])("refuses arguments that are %s", (_name, args, reason) => {
    expect(startStory(POLICY).reason("look", args)).toBe(reason);
  });

  test("refuses bytes that are not UTF-8", () => {
    const bytes = { arguments: new Uint8Array([0x7b, 0xff]) };
    expect(startStory(POLICY).refused("look", {}, bytes).refusal.message).toMatch(/UTF-8/);
  });
});

describe("a redelivery", () => {
  test("gets the decision as it was journaled, and changes nothing", () => {
    const story = startStory(POLICY);
    const proposal = story.proposal("write", { id: 1 });
    const [first] = story.when(proposal);
    const before = story.state;
    expect(story.after(MINUTE).when(proposal)).toEqual([
      {
        type: "repeated",
        tenantId: "acme",
        conversationId: "c",
        decisionId: ofType(first as never, "allowed").decisionId,
        decision: first,
      },
    ]);
    expect(story.state).toBe(before);
  });

  test("is recognized by name and canonical arguments, in any spelling", () => {
    const story = startStory(POLICY);
    const proposal = story.proposal("write", '{"a":1,"b":2}');
    story.when(proposal);
    expect(story.when({ ...proposal, arguments: '{ "b":2, "a":1 }' })).toMatchObject([
      { type: "repeated" },
    ]);
  });

  test("of a refused call gets the refusal again, for reads and writes", () => {
    const story = startStory(POLICY);
    for (const proposal of [story.proposal("nobody"), story.proposal("look", "{")]) {
      story.when(proposal);
      expect(story.when(proposal)).toMatchObject([
        { type: "repeated", decision: { type: "refused" } },
      ]);
    }
  });

  test("of a held call gets the hold, and later the decision that ended it", () => {
    const story = startStory(POLICY);
    const proposal = story.proposal("ask");
    const hold = ofType(story.when(proposal)[0] as never, "held");
    expect(story.when(proposal)).toMatchObject([{ decision: { type: "held" } }]);
    story.approved(hold);
    expect(story.when(proposal)).toMatchObject([{ decision: { type: "allowed" } }]);
  });

  test("of a held call is recognized for as long as the hold may last", () => {
    const story = startStory({
      ...POLICY,
      authorization: {
        tiers: [{ name: "a", pattern: "ask", action: "hitl", expires_ms: 5 * HOUR }],
      },
    });
    const proposal = story.proposal("ask");
    const hold = ofType(story.when(proposal)[0] as never, "held");
    story.after(4 * HOUR);
    expect(story.when(proposal)).toMatchObject([{ type: "repeated" }]);
    story.approved(hold);
    story.after(30 * MINUTE);
    expect(story.when(proposal)).toMatchObject([{ decision: { type: "allowed" } }]);
  });

  test("is recognized for as long as the conversation lasts, for reads and writes", () => {
    const conversation = { idle_ms: 48 * HOUR };
    const story = startStory({ ...POLICY, conversation, deduplication: { window_ms: MINUTE } });
    const read = story.proposal("look");
    const write = story.proposal("write");
    story.when(read);
    story.when(write);
    story.after(47 * HOUR);
    expect(story.when(read)).toMatchObject([{ type: "repeated" }]);
    expect(story.when(write)).toMatchObject([{ type: "repeated" }]);
    story.after(2 * HOUR);
    expect(story.when(write)).toMatchObject([{ type: "allowed", conversation: { fresh: true } }]);
  });
});

describe("call_id_conflict", () => {
  test("refuses another call under a used name, and leaves the first untouched", () => {
    const story = startStory(POLICY);
    const proposal = story.proposal("look", { id: 1 });
    story.when(proposal);
    for (const other of [{ arguments: '{"id":2}' }, { tool: "write" }]) {
      expect(story.when({ ...proposal, ...other })).toMatchObject([
        {
          type: "refused",
          refusal: { reason: "call_id_conflict" },
          conversation: { entersTurn: false },
        },
      ]);
    }
    expect(story.when(proposal)).toMatchObject([{ type: "repeated" }]);
  });

  test("does not fire in another turn or step", () => {
    const story = startStory(POLICY);
    const name = { callId: "call_0" };
    story.allowed("look", { n: 1 }, { ...name, step: "s1" });
    story.allowed("look", { n: 2 }, { ...name, step: "s2" });
    story.allowed("look", { n: 3 }, { ...name, step: "s1", turn: "2" });
    expect(story.reason("look", { n: 4 }, { ...name, step: "s1", turn: "1" })).toBe(
      "call_id_conflict",
    );
  });

  test("does not fire without a step, where the arguments tell calls apart", () => {
    const story = startStory(POLICY);
    const name = { callId: "call_0", step: null };
    const first = story.proposal("look", { n: 1 }, name);
    story.when(first);
    story.allowed("look", { n: 2 }, name);
    expect(story.when(first)).toMatchObject([{ type: "repeated" }]);
  });

  test("leaves the first call untouched even if the other could not be parsed", () => {
    const story = startStory(POLICY);
    const proposal = story.proposal("look", { id: 1 });
    story.when(proposal);
    expect(story.when({ ...proposal, arguments: "{" })).toMatchObject([
      { refusal: { reason: "malformed" } },
    ]);
    expect(story.when(proposal)).toMatchObject([{ type: "repeated" }]);
  });
});

describe("unknown_tool", () => {
  test("is refused, or allowed with a note as an undeclared write", () => {
    const refusal = startStory(POLICY).refused("nobody").refusal;
    expect(refusal).toMatchObject({ reason: "unknown_tool", rule: "unknown_tools" });
    const warn = startStory({ ...POLICY, checks: { unknown_tool: "warn" } }).allowed("nobody");
    expect(warn).toMatchObject({
      policy: { isRead: false },
      notices: { warnings: [{ reason: "unknown_tool" }] },
    });
    startStory({ ...POLICY, unknown_tools: "allow" }).allowed("nobody");
    startStory({ ...POLICY, unknown_tools: "hitl" }).held("nobody");
  });

  test("does not fire without declarations: every tool is a declared write", () => {
    expect(startStory({}).allowed("anything")).toMatchObject({ policy: { isRead: false } });
  });
});

describe("invalid_arguments", () => {
  test("lists every problem with its path", () => {
    const { refusal } = startStory(POLICY).refused("strict", { n: "x", more: 1 });
    expect(refusal).toMatchObject({
      reason: "invalid_arguments",
      rule: "tool_schemas.strict.input_schema",
    });
    expect(refusal.problems.length).toBeGreaterThanOrEqual(3);
    for (const { path, message } of refusal.problems)
      expect(refusal.message).toContain(`${path}: ${message}`);
  });

  test("fires where a normalizer fails", () => {
    const { refusal } = startStory(POLICY).refused("amount", { cents: "many" });
    expect(refusal).toMatchObject({
      reason: "invalid_arguments",
      problems: [{ path: "$.cents" }],
    });
  });

  test("fires where an exclusive effect cannot name its resource", () => {
    const { refusal } = startStory(POLICY).refused("charge", {});
    expect(refusal.problems).toEqual([
      { path: "$.id", message: "is missing, and says what the call would change" },
    ]);
  });

  test("lets the call through with all its arguments as identity, in mode warn", () => {
    const story = startStory({ ...POLICY, checks: { invalid_arguments: "warn" } });
    const call = story.allowed("amount", { cents: "many" });
    expect(call.notices.warnings[0]?.message).toContain("$.cents");
    expect(call.arguments.actionKey).toBe(call.arguments.digest);
    expect(story.allowed("charge", {}).facts).toMatchObject({ resources: null, exclusive: [] });
  });
});

describe("a confirmation", () => {
  test("is used up by a judged call, refused or not, and covers no other", () => {
    const story = startStory(POLICY);
    story.done("write", { id: 1 });
    story.done("write", { id: 2 });
    expect(story.allowed("look", {}, { confirmation: "yes" }).conversation.confirmation).toBe(
      "yes",
    );
    expect(story.reason("write", { id: 2 }, { confirmation: "yes" })).toBe("duplicate_call");
  });

  test("is not used up by a call that is not judged", () => {
    const story = startStory(POLICY);
    story.done("write");
    story.reason("nobody", {}, { confirmation: "yes" });
    story.reason("strict", {}, { confirmation: "yes" });
    story.reason("look", "{", { confirmation: "yes" });
    story.allowed("write", {}, { confirmation: "yes" });
  });
});

describe("a conversation", () => {
  test("starts afresh after its idle time, and the decision says so", () => {
    const story = startStory({ ...POLICY, conversation: { idle_ms: 2 * HOUR } });
    expect(story.done("write").conversation.fresh).toBe(true);
    story.after(2 * HOUR - 1);
    expect(story.done("look").conversation.fresh).toBe(false);
    story.after(2 * HOUR);
    expect(story.done("write")).toMatchObject({
      conversation: { fresh: true },
      execution: { attempt: 1 },
    });
  });

  test("starts afresh at its maximum age, however busy", () => {
    const story = startStory({ ...POLICY, conversation: { max_age_ms: 3 * HOUR } });
    for (let n = 0; n < 3; n += 1) {
      expect(story.done("look", { n }).conversation.fresh).toBe(n === 0);
      story.after(HOUR);
    }
    expect(story.allowed("look")).toMatchObject({
      conversation: { fresh: true, dropAtMs: story.nowMs + 3 * HOUR },
    });
  });

  test("shares nothing with one of another name", () => {
    const story = startStory(POLICY);
    story.done("write");
    const elsewhere = { ...story.proposal("write"), conversationId: "d" };
    const [event] = decide(undefined, elsewhere, story.policy, story.nowMs);
    expect(event).toMatchObject({
      type: "allowed",
      conversationId: "d",
      conversation: { fresh: true },
    });
  });
});

test("a decision records policy, tier, agent, and the digest of its subject", () => {
  const story = startStory(POLICY);
  const call = story.allowed("write", '{"b":1,"a":2}');
  expect(call).toMatchObject({
    policy: { revision: "sha256:test" },
    arguments: { text: '{"a":2,"b":1}' },
    call: { agentId: "agent" },
    keyId: "k1",
    times: { atMs: story.nowMs },
    notAfterMs: story.nowMs + 60 * SECOND,
  });
  expect(call.decisionId).toMatch(/^[0-9a-f]{32}$/);
});

test("a decision names the rule that puts its tool in a tier, and no rule before the tool is looked up", () => {
  const tiers = [{ name: "few", pattern: "put", action: "per_conversation_grant", ceiling: 5 }];
  const story = startStory({ authorization: { tiers } } as PolicyDocument);
  expect(story.allowed("put").policy).toMatchObject({
    tier: "few",
    tierRule: "authorization.tiers[0]",
  });
  const unread = { rejected: { reason: "malformed", message: "no" } } as const;
  expect(story.refused("put", {}, unread).policy).toMatchObject({ tier: null, tierRule: null });
});

test("a check that throws refuses its call with internal_error, and the refusal names the check", () => {
  const story = startStory(POLICY);
  const broken = {
    ...story.policy,
    tool: () => {
      throw new Error("a broken\u0000 policy");
    },
  };
  const [event] = decide(story.state, story.proposal("write"), broken, story.nowMs);
  expect(event).toMatchObject({
    type: "refused",
    refusal: { reason: "internal_error", rule: "gate", disposition: "stop" },
    conversation: { fresh: true },
  });
});

test("an internal error is reported, but not where the call's arguments are sensitive", () => {
  const story = startStory({ tool_schemas: { pay: { sensitive: ["card"] }, write: {} } });
  const killedBy = (): never => {
    throw new Error("what is broken");
  };
  const messageOf = (tool: string, policy = story.policy) => {
    const [event] = decide(story.state, story.proposal(tool), { ...policy, killedBy }, 0);
    return event?.type === "refused" ? event.refusal.message : "";
  };
  expect(messageOf("write")).toContain("Detail for the operator: what is broken.");
  expect(messageOf("pay")).not.toContain("what is broken");
  const tool = (): never => {
    throw new Error("another");
  };
  const plain = { ...startStory(POLICY).policy, tool };
  expect(messageOf("write", plain)).toContain("another");
  expect(messageOf("write", { ...story.policy, tool })).not.toContain("another");
});

test("the gate remembers confirmations up to their bound, and accepts none beyond it", () => {
  const story = startStory(POLICY);
  story.done("write");
  for (let n = 0; n < 1_023; n += 1) {
    story.reported(story.allowed("look", { n }, { confirmation: `said-${n}` }), { output: `${n}` });
  }
  story.reported(story.allowed("write", {}, { confirmation: "last" }), { output: "x" });
  expect(story.reason("write", {}, { confirmation: "over" })).toBe("duplicate_call");
});
