// Signed proposals on a real broker: the header arrives, the keys rotate, and a gate that takes the
// partition over, or verifies the journal, needs no key.
import { describe, expect, it, onTestFinished } from "vitest";
import { TokenAuthority } from "../../../services/adapters/tokens/token-authority.ts";
import { type TokenKeys, tokenKeysOf } from "../../../services/adapters/tokens/token-keys.ts";
import type { ProposalToken } from "../../../services/client/api/gate-types.ts";
import { connectCallgate, type Decision } from "../../../services/library/callgate.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { makeTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import {
  JOURNAL_RETENTION,
  openTestGate,
  readDecided,
  untilReady,
} from "../../support/kafka/test-gate.ts";
import { CLAIMS, type KeyPair, makeKeys, sign } from "../../support/token-kit.ts";

const kafka = await kafkaBackend();
const PROPOSAL = {
  conversationId: "c",
  callId: "1",
  step: 1,
  tool: "pay",
  arguments: { order: "1" },
};

async function keySet(...pairs: readonly KeyPair[]): Promise<TokenKeys> {
  const read = await tokenKeysOf({ keys: pairs.map(({ verifying }) => verifying) });
  if (!read.ok) throw new Error(read.message);
  return read.keys;
}

const reasonOf = ({ outcome, refusal }: Decision) => refusal?.reason ?? outcome;

describe.skipIf(!kafka.available)(`signed proposals ${kafka.reason}`, () => {
  it("are decided by their tokens, across a rotation and a take-over without keys", async () => {
    const names = await makeTopics(kafka.brokers, { partitions: 1, config: JOURNAL_RETENTION });
    const group = uniqueName("gates");
    const [first, next] = [await makeKeys("a"), await makeKeys("b")];
    const authority = new TokenAuthority(await keySet(first));
    const gate = await openTestGate(kafka.brokers, names, { group, authority });
    onTestFinished(() => gate.stop());
    await gate.host.start();
    await untilReady(gate);
    const connect = async (token?: ProposalToken) => {
      const connection = { brokers: kafka.brokers, topics: names };
      const client = await connectCallgate({ kafka: connection, token });
      onTestFinished(() => client.close());
      return client;
    };
    const stranger = await connect();
    const agent = await connect(() => sign(first.signing, CLAIMS));
    const rotated = await connect(() => sign(next.signing, CLAIMS));

    const refused = await stranger.propose({ ...PROPOSAL, turn: 1, agentId: "planner" });
    expect(refused.refusal?.message).toContain("the record has no header `callgate-token`");
    expect(reasonOf(await agent.propose(PROPOSAL))).toBe("allowed");
    expect(reasonOf(await agent.propose({ ...PROPOSAL, turn: 2 }))).toBe("unauthenticated");
    expect(reasonOf(await rotated.propose({ ...PROPOSAL, callId: "2" }))).toBe("unauthenticated");
    authority.setKeys(await keySet(first, next));
    const second = { ...PROPOSAL, callId: "2", arguments: { order: "2" } };
    expect(reasonOf(await rotated.propose(second))).toBe("allowed");
    authority.setKeys(await keySet(next));
    const third = { ...PROPOSAL, callId: "3", arguments: { order: "3" } };
    expect(reasonOf(await agent.propose(third))).toBe("unauthenticated");

    await gate.stop();
    const successor = await openTestGate(kafka.brokers, names, { group });
    onTestFinished(() => successor.stop());
    await successor.host.start();
    await untilReady(successor);
    const again = await stranger.propose({ ...PROPOSAL, turn: 1, agentId: "planner" });
    expect(again).toMatchObject({ outcome: "allowed", repeated: true });
    const log = await openTestLog(kafka.brokers, names);
    onTestFinished(() => log.close());
    expect(await readDecided(log)).toMatchObject({ proposals: 7, problems: [] });
  });
});
