// A gate with keys takes turn, agent and confirmation only from tokens, in memory and on disk.
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../services/core/canonical/json-value.ts";
import { actionDigest } from "../../../services/core/hash.ts";
import type { Callgate, Decision, OpenOptions } from "../../../services/library/callgate.ts";
import { openLog } from "../../../services/process/directory/open-log.ts";
import { makeDirectory, openGate, SHOP_POLICY } from "../../support/open-gate.ts";
import { CLAIMS, makeKeys, sign } from "../../support/token-kit.ts";

const keys = await makeKeys("a");
const signed = { proposalKeys: { keys: [keys.verifying] } };
const order = (id: string) => ({
  ...{ conversationId: "c", tool: "charge_card", arguments: { order: id } },
});
const reasonOf = ({ outcome, refusal }: Decision) => refusal?.reason ?? outcome;

/** A signed gate whose next token has these claims in addition to the usual ones. */
async function openSigned(
  options: Partial<OpenOptions> = {},
): Promise<{ readonly gate: Callgate; readonly say: (claims: JsonObject) => void }> {
  let claims: JsonObject = CLAIMS;
  const gate = await openGate({ ...signed, ...options, token: () => sign(keys.signing, claims) });
  return { gate, say: (next) => (claims = { ...CLAIMS, ...next }) };
}

test("refuses a proposal without a token, and says what is missing", async () => {
  const gate = await openGate(signed);
  const { refusal } = await gate.propose({ ...order("1"), turn: 1, agentId: "planner" });
  expect(refusal?.reason).toBe("unauthenticated");
  expect(refusal?.message).toContain("the record has no header `callgate-token`");
});

test("does not open with unusable keys", async () => {
  const opening = openGate({ proposalKeys: { keys: [{ kty: "oct" }] } });
  await expect(opening).rejects.toThrow("`proposalKeys`: keys[0] needs a `kid`");
});

test("blames the program for a token function that returns none, or throws", async () => {
  const none = await openGate({ ...signed, token: () => "" });
  await expect(none.propose(order("1"))).rejects.toThrow("`token` returned no text");
  const throws = await openGate({
    ...signed,
    token: () => {
      throw new Error("no session");
    },
  });
  await expect(throws.propose(order("1"))).rejects.toThrow("`token` threw: no session");
});

test("keeps the budget of a turn, which an agent cannot start by itself", async () => {
  const policy = { ...SHOP_POLICY, budgets: { max_tool_calls: 2 } };
  const { gate, say } = await openSigned({ policy });
  const charge = async (id: string, turn?: string) =>
    reasonOf(await gate.propose({ ...order(id), turn }));
  expect(await charge("1")).toBe("allowed");
  expect(await charge("2")).toBe("allowed");
  expect(await charge("3")).toBe("budget_calls");
  expect(await charge("3", "2")).toBe("unauthenticated");
  say({ turn: "2" });
  expect(await charge("3")).toBe("allowed");
});

test("takes nothing from a conversation for refused proposals of somebody else", async () => {
  const { gate } = await openSigned();
  const foreign = { ...order("1"), callId: "x", step: "1", turn: "9" };
  expect(reasonOf(await gate.propose(foreign))).toBe("unauthenticated");
  const own = { ...order("1"), callId: "x", step: "1" };
  const first = await gate.propose(own);
  expect(reasonOf(first)).toBe("allowed");
  expect(reasonOf(await gate.propose(foreign))).toBe("unauthenticated");
  expect(await gate.propose(own)).toMatchObject({ repeated: true, decisionId: first.decisionId });
});

describe("a confirmation", () => {
  const digest = actionDigest("charge_card", '{"order":"1"}');
  const about = (confirms: JsonObject) => ({
    confirmation: { id: "yes", tool: "charge_card", ...confirms },
  });

  async function charged() {
    const story = await openSigned();
    const { decisionId } = await story.gate.propose(order("1"));
    await story.gate.report(decisionId ?? "", { status: "succeeded" });
    expect(reasonOf(await story.gate.propose(order("1")))).toBe("duplicate_call");
    return story;
  }

  test("allows the call that it identifies, once", async () => {
    const { gate, say } = await charged();
    say(about({ argumentsDigest: digest }));
    const again = await gate.propose(order("1"));
    expect(reasonOf(again)).toBe("allowed");
    await gate.report(again.decisionId ?? "", { status: "succeeded" });
    say({ ...about({ argumentsDigest: digest }), jti: "another-token" });
    expect(reasonOf(await gate.propose(order("1")))).toBe("duplicate_call");
  });

  test.each([
    { argumentsDigest: actionDigest("charge_card", '{"order":"2"}') },
    { tool: "get_order", argumentsDigest: digest },
    { callId: "another" },
    { callId: "another", argumentsDigest: digest },
  ])("does not count for another call than %j", async (confirms) => {
    const { gate, say } = await charged();
    say(about(confirms));
    expect(reasonOf(await gate.propose(order("1")))).toBe("duplicate_call");
  });

  test("is not spent by a call that it does not identify", async () => {
    const { gate, say } = await charged();
    say(about({ argumentsDigest: digest }));
    expect(reasonOf(await gate.propose(order("7")))).toBe("allowed");
    expect(reasonOf(await gate.propose(order("1")))).toBe("allowed");
  });

  test("cannot be made up by the agent", async () => {
    const { gate } = await charged();
    const made = { ...order("1"), confirmation: "made-up" };
    expect(reasonOf(await gate.propose(made))).toBe("unauthenticated");
  });
});

test("ignores the agent's own cost estimate", async () => {
  const policy = { ...SHOP_POLICY, budgets: { max_spend: { amount: "1", currency: "USD" } } };
  const { gate, say } = await openSigned({ policy });
  const estimatedCost = { microUnits: 9_000_000, currency: "USD" };
  expect(reasonOf(await gate.propose({ ...order("1"), estimatedCost }))).toBe("allowed");
  say({ estimatedCost });
  expect(reasonOf(await gate.propose(order("2")))).toBe("budget_spend");
});

test("journals the verified claims, so that a gate on that journal needs no key to continue", async () => {
  const dataDir = makeDirectory();
  const { gate, say } = await openSigned({ dataDir });
  const confirms = { tool: "charge_card", callId: "k" };
  say({ confirmation: { id: "yes", ...confirms } });
  await gate.propose({ ...order("1"), callId: "k" });
  await gate.close();

  const { log, codec, close } = openLog(dataDir);
  try {
    const { records } = await log.read("decisions", 0, 0, { recordsMax: 9, bytesMax: 1e6 });
    const inputs = records.map(({ value }) => codec.decodeJournal(value ?? new Uint8Array()).input);
    expect(inputs).toMatchObject([
      {
        input: {
          ...{ agentId: "planner", turn: "1", confirmation: "yes", rejected: null },
          vouched: {
            ...{ tokenId: "token-1", keyId: "a", expiresAtMs: 4_000_000_000_000 },
            confirms: { ...confirms, argumentsDigest: null },
          },
        },
      },
    ]);
    const [proposal] = (await log.read("proposals", 0, 0, { recordsMax: 9, bytesMax: 1e6 }))
      .records;
    expect(proposal?.headers.map(({ name }) => name)).toEqual(["callgate-token"]);
    const allowed = await log.read("allowed", 0, 0, { recordsMax: 9, bytesMax: 1e6 });
    const passedOn = allowed.records.map(({ headers }) =>
      headers.filter(({ name }) => !name.startsWith("callgate-c") && name !== "callgate-tenant"),
    );
    expect(passedOn).toEqual([[{ name: "callgate-outcome", value: "allowed" }]]);
  } finally {
    await close();
  }
  const trusting = await openGate({ dataDir });
  expect(reasonOf(await trusting.propose({ ...order("1"), turn: 1 }))).toBe("duplicate_in_flight");
});

test.each(["Planner", "PLANNER", " planner "])(
  "kill.agents treats %j as the agent",
  async (agentId) => {
    const gate = await openGate({ policy: { ...SHOP_POLICY, kill: { agents: ["planner"] } } });
    expect(reasonOf(await gate.propose({ ...order("1"), agentId }))).toBe("killed");
    expect(reasonOf(await gate.propose({ ...order("1"), agentId: "other" }))).toBe("allowed");
  },
);

test("kill.agents matches spellings of its own globs", async () => {
  const gate = await openGate({ policy: { ...SHOP_POLICY, kill: { agents: ["Plan*"] } } });
  expect(reasonOf(await gate.propose({ ...order("1"), agentId: "pLANNER" }))).toBe("killed");
});
