// Journal heads on a real Redis.
import { describe, expect, it, onTestFinished } from "vitest";
import { RedisCheckpoints } from "../../../services/adapters/redis/redis-checkpoints.ts";
import { RedisClient } from "../../../services/adapters/redis/redis-client.ts";
import { RedisHeads } from "../../../services/adapters/redis/redis-heads.ts";
import { quietLogger } from "../../../services/runtime/quiet-logger.ts";
import { redisBackend } from "../../support/backends/redis-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { headerAt } from "../../support/redis/redis-store.ts";

const backend = await redisBackend();
const ACCEPTANCE = { by: "ann", reason: null, atMs: 7, losses: ["all"], lostKeyIds: ["k"] };

function headAt(journalOffset: number, topicId = "topic") {
  return { topicId, journalOffset, seq: journalOffset, chainHead: "ab".repeat(32) };
}

function open(group = uniqueName("gate"), clusterId = "cluster", topicId = "topic") {
  const client = new RedisClient(
    {
      server: { type: "single", url: backend.url },
      clientName: "callgate-test",
      commandTimeoutMs: 10_000,
      connectTimeoutMs: 5_000,
    },
    quietLogger,
  );
  onTestFinished(() => client.close());
  const log = { clusterId, topicId: () => topicId };
  const scope = { clusterId, topic: "decisions", group };
  const heads = new RedisHeads({ client, log, scope });
  const checkpoints = new RedisCheckpoints({ client, scope, loadMsMax: 60_000 });
  return { group, heads, checkpoints };
}

describe.skipIf(!backend.available)("heads on Redis", () => {
  it("are the latest saved ones, by partition", async () => {
    const { heads } = open();
    expect(await heads.load(0)).toBeNull();
    await heads.save(0, headAt(3));
    await heads.save(1, headAt(9));
    expect(await heads.load(0)).toEqual({ ...headAt(3), acceptance: null });
    expect(await heads.load(1)).toMatchObject({ journalOffset: 9 });
  });

  it("never go back where a replaced owner saves late", async () => {
    const { heads } = open();
    await heads.save(0, headAt(9));
    await heads.save(0, headAt(4));
    expect(await heads.load(0)).toMatchObject({ journalOffset: 9 });
    await heads.save(0, headAt(4, "made anew"));
    expect(await heads.load(0)).toMatchObject({ journalOffset: 4, topicId: "made anew" });
  });

  it("of other clusters and topics are not loaded", async () => {
    const { group, heads } = open();
    await heads.save(0, headAt(9));
    expect(await open(group, "another").heads.load(0)).toBeNull();
  });

  it("include the checkpoint of the same topic, and of no other", async () => {
    const { group, heads, checkpoints } = open();
    const save = { replace: true, upserts: [], removals: [] };
    await checkpoints.save(0, { ...save, header: headerAt(12) }, null);
    expect(await heads.load(0)).toMatchObject({ journalOffset: 12, topicId: "topic" });
    await heads.save(0, headAt(5));
    expect(await heads.load(0)).toMatchObject({ journalOffset: 12 });
    await heads.save(0, headAt(15));
    expect(await heads.load(0)).toMatchObject({ journalOffset: 15 });
    const anew = open(group, "cluster", "made anew").heads;
    expect(await anew.load(0)).toMatchObject({ journalOffset: 15, topicId: "topic" });
  });

  it("carry an acceptance until the next save, and drop the checkpoint beyond the loss", async () => {
    const { heads, checkpoints } = open();
    const save = { replace: true, upserts: [], removals: [] };
    await checkpoints.save(0, { ...save, header: headerAt(12) }, null);
    await heads.accept(0, headAt(0), ACCEPTANCE);
    expect(await heads.load(0)).toEqual({ ...headAt(0), acceptance: ACCEPTANCE });
    await heads.save(0, headAt(3));
    expect(await heads.load(0)).toEqual({ ...headAt(3), acceptance: null });
  });
});
