// The bounds on conversations, through the library and the server.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Callgate, OpenOptions } from "../../../services/library/callgate.ts";
import { CallgateError, openCallgate } from "../../../services/library/callgate.ts";
import { makeDirectory, openGate } from "../../support/open-gate.ts";

const MINUTE = 60_000;
const IDLE_MS = 60 * MINUTE;
const POLICY = {
  conversation: { idle_ms: IDLE_MS },
  tool_schemas: { look: { read_only: true } },
};

/** Proposes a call, reports its result, and says what came of it. */
class Agent {
  readonly gate: Callgate;
  #calls = 0;

  constructor(gate: Callgate) {
    this.gate = gate;
  }

  async call(conversationId: string, tenantId = "default"): Promise<string> {
    this.#calls += 1;
    const call = { callId: `call-${this.#calls}`, tool: "look", arguments: { n: this.#calls } };
    const decision = await this.gate.propose({ conversationId, tenantId, ...call });
    if (decision.outcome !== "allowed") return decision.refusal?.reason ?? decision.outcome;
    await this.gate.report(decision.decisionId, { status: "succeeded", output: "fine" });
    return "allowed";
  }

  async calls(conversationIds: readonly string[], tenantId?: string): Promise<string[]> {
    const outcomes: string[] = [];
    for (const id of conversationIds) outcomes.push(await this.call(id, tenantId));
    return outcomes;
  }
}

const FIVE = ["a", "b", "c", "d", "e"];
const ALLOWED = FIVE.map(() => "allowed");

async function agentOf(limits: OpenOptions["limits"], dataDir: string | false): Promise<Agent> {
  return new Agent(await openGate({ policy: POLICY, limits, dataDir }));
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});

afterEach(() => {
  vi.useRealTimers();
});

describe.each(["in memory", "on disk"])("a gate %s", (where) => {
  const directory = (): string | false => (where === "on disk" ? makeDirectory() : false);

  test("with room for five conversations refuses the sixth until one has lapsed", async () => {
    const agent = await agentOf({ conversations: 5 }, directory());
    expect(await agent.calls(FIVE)).toEqual(ALLOWED);
    expect(await agent.call("f")).toBe("overloaded");
    expect(await agent.calls(FIVE)).toEqual(ALLOWED);
    vi.setSystemTime(Date.now() + IDLE_MS / 2);
    expect(await agent.calls(FIVE.slice(1))).toEqual(ALLOWED.slice(1));
    expect(await agent.call("f")).toBe("overloaded");
    vi.setSystemTime(Date.now() + IDLE_MS / 2);
    expect(await agent.calls(["f", "g", ...FIVE.slice(1)])).toEqual([
      "allowed",
      "overloaded",
      ...ALLOWED.slice(1),
    ]);
  });

  test("has a bound of its own for each tenant", async () => {
    const agent = await agentOf({ conversationsPerTenant: 2 }, directory());
    expect(await agent.calls(["a", "b", "c", "a"], "t")).toEqual([
      "allowed",
      "allowed",
      "overloaded",
      "allowed",
    ]);
    expect(await agent.calls(["a", "b", "c"], "u")).toEqual(["allowed", "allowed", "overloaded"]);
    vi.setSystemTime(Date.now() + IDLE_MS);
    expect(await agent.call("c", "t")).toBe("allowed");
  });
});

test("a gate that is opened again knows how many conversations it has", async () => {
  const dataDir = makeDirectory();
  const options = { policy: POLICY, limits: { conversations: 2 }, dataDir };
  const first = await openCallgate(options);
  expect(await new Agent(first).calls(["a", "b", "c"])).toEqual([
    "allowed",
    "allowed",
    "overloaded",
  ]);
  await first.close();
  const agent = new Agent(await openGate(options));
  expect(await agent.calls(["c", "a", "b"])).toEqual(["overloaded", "allowed", "allowed"]);
});

test("the refusal says when to ask again, and an ended conversation keeps its room", async () => {
  const agent = await agentOf({ conversations: 1 }, false);
  await agent.call("a");
  await agent.gate.endConversation({ conversationId: "a" }, { by: "ann" });
  const decision = await agent.gate.propose({ conversationId: "b", tool: "look", arguments: {} });
  expect(decision.refusal).toMatchObject({
    reason: "overloaded",
    retryable: true,
    resolution: { type: "retry_after", retryAfterMs: MINUTE },
  });
  expect(await agent.call("a")).toBe("conversation_ended");
});

test.each([
  [{ conversations: 0 }, "`limits.conversations` must be a whole number from 1 on"],
  [{ stateBytes: 1.5 }, "`limits.stateBytes` must be a whole number from 1 on"],
  [{ stateBytes: 1_000_000 }, "`limits.stateBytes` needs a `dataDir`, whose bytes it bounds"],
  [{ tenants: 1 }, "`limits`: `tenants` is unknown; use one of conversations, conversations"],
])("limits %j are refused with what to correct", async (limits, problem) => {
  const opening = openCallgate({ policy: POLICY, dataDir: false, limits } as OpenOptions);
  await expect(opening).rejects.toBeInstanceOf(CallgateError);
  await expect(opening).rejects.toThrow(problem);
});

test("a gate whose store is as large as it may be refuses new conversations alone", async () => {
  const options = { policy: POLICY, limits: { stateBytes: 1 }, dataDir: makeDirectory() };
  const first = await openCallgate(options);
  // What is not saved yet takes nothing on disk; closing the gate saves it.
  expect(await new Agent(first).call("a")).toBe("allowed");
  await first.close();
  const agent = new Agent(await openGate(options));
  expect(await agent.calls(["b", "a"])).toEqual(["overloaded", "allowed"]);
});
