import { describe, expect, test } from "vitest";
import {
  type Conversation,
  findFaults,
  readDomains,
} from "../../eval/conversations/conversation.ts";
import {
  missingPolicies,
  POLICY_KINDS,
  policyOf,
} from "../../eval/conversations/conversation-policies.ts";
import { playConversation } from "../../eval/conversations/play-conversation.ts";
import { scoreConversation, sumScores } from "../../eval/conversations/score-conversations.ts";
import { openGate } from "../../support/open-gate.ts";

/** Raise them with each domain that is added. */
const CONVERSATIONS_MIN = 392;
const HONEST_MIN = 139;

const domains = readDomains();
const conversations = domains.flatMap((domain) => domain.conversations);

const TOOLS = [
  { name: "get_order", kind: "read" },
  { name: "refund", kind: "write" },
].map((tool) => ({ ...tool, description: "", parameters: {}, note: "" })) as [];

const REFUND = { tool: "refund", args: { order: 7 }, output: "done" };

function conversation(kind: Conversation["kind"], calls: readonly object[]): Conversation {
  const timed = calls.map((call, index) => ({ turn: 1, step: index, ts: index * 1_000, ...call }));
  return { id: `${kind}-1`, kind, story: "", calls: timed as unknown as Conversation["calls"] };
}

describe("the written conversations", () => {
  test("are as many as the evaluation needs", () => {
    expect(conversations.length).toBeGreaterThanOrEqual(CONVERSATIONS_MIN);
    const honest = conversations.filter(({ kind }) => kind === "honest").length;
    expect(honest).toBeGreaterThanOrEqual(HONEST_MIN);
  });

  test("have ids of their own, tools that exist, and times that rise", () => {
    expect(findFaults(domains)).toEqual([]);
  });

  test("have policies that load", async () => {
    expect(missingPolicies(domains)).toEqual([]);
    for (const domain of domains) {
      for (const kind of POLICY_KINDS) {
        const gate = await openGate({ policy: policyOf(domain, kind) });
        expect(gate.policyRevision).toMatch(/^sha256:/);
      }
    }
  });
});

test("finds what is wrong with a conversation", () => {
  const wrong = conversation("honest", [
    { ...REFUND, expect: "stop" },
    { ...REFUND, tool: "refnd", ts: -1, expect: "maybe" },
  ]);
  const harmless = conversation("harmful", [{ ...REFUND, expect: "any" }]);
  const faults = findFaults([
    { name: "shop", tools: TOOLS, conversations: [wrong, wrong, harmless] },
  ]);
  expect(new Set(faults)).toEqual(
    new Set([
      "honest-1: the id is used twice",
      "honest-1, call 1: an honest call is to be stopped",
      "honest-1, call 2: there is no tool refnd",
      "honest-1, call 2: it comes before the call before it",
      "honest-1, call 2: it expects maybe",
      "harmful-1: no call is to be stopped",
    ]),
  );
});

describe("a conversation that is played", () => {
  const domain = { name: "shop", tools: TOOLS, conversations: [] };
  const play = async (one: Conversation) => {
    const decisions = await playConversation(policyOf(domain, "bare"), one);
    return scoreConversation("shop", one, decisions);
  };

  test("counts harm, caught and missed calls", async () => {
    const scores = [
      await play(
        conversation("honest", [
          { ...REFUND, expect: "run" },
          { ...REFUND, expect: "run", why: "the user asks for it" },
        ]),
      ),
      await play(
        conversation("harmful", [
          { ...REFUND, expect: "run" },
          { ...REFUND, expect: "stop" },
          { ...REFUND, args: { order: "7" }, expect: "stop" },
          { ...REFUND, expect: "any" },
        ]),
      ),
    ];
    expect(sumScores(scores)).toEqual({
      ...{ honest: 1, harmed: 1, harmful: 2, caught: 1, wronglyStopped: 1 },
      ...{ precision: 0.5, recall: 0.5 },
    });
    expect(scores.flatMap(({ wrong }) => wrong.map(({ type, actual }) => [type, actual]))).toEqual([
      ["harmed", "duplicate_call"],
      ["missed", "allowed"],
    ]);
  });

  test("takes an answer from memory for a served call, and not for one that must run", async () => {
    const read = { tool: "get_order", args: { order: 7 }, output: "open" };
    const { wrong } = await play(
      conversation("honest", [
        { ...read, expect: "run" },
        { ...read, expect: "serve" },
        { ...read, expect: "run" },
      ]),
    );
    expect(wrong.map(({ number, actual }) => [number, actual])).toEqual([
      [3, "answered duplicate_call"],
    ]);
  });

  test("has parallel calls of one step in flight together", async () => {
    const parallel = { ...REFUND, step: 1, ts: 0, expect: "any" };
    const one = conversation("honest", [parallel, parallel]);
    const [first, second] = await playConversation(policyOf(domain, "bare"), one);
    expect([first?.outcome, second?.refusal?.reason]).toEqual(["allowed", "duplicate_in_flight"]);
  });
});
