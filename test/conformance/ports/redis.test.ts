// Runs the checkpoint contract on a real Redis, with a group for each test.
import { describe } from "vitest";
import { RedisCheckpoints } from "../../../services/adapters/redis/redis-checkpoints.ts";
import { RedisClient } from "../../../services/adapters/redis/redis-client.ts";
import { redisBackend } from "../../support/backends/redis-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { testScope } from "../../support/redis/redis-store.ts";
import { createTestLogger } from "../../support/runtime-kit.ts";
import { describeCheckpointContract } from "./checkpoints.contract.ts";

const redis = await redisBackend();

describe.skipIf(!redis.available)(`on a real server ${redis.reason}`, () => {
  describeCheckpointContract("in Redis", async () => {
    const client = new RedisClient(
      {
        server: { type: "single", url: redis.url },
        clientName: "callgate-test",
        commandTimeoutMs: 5_000,
        connectTimeoutMs: 5_000,
      },
      createTestLogger([]),
    );
    const group = uniqueName("contract");
    return {
      store: new RedisCheckpoints({ client, scope: testScope(group), loadMsMax: 30_000 }),
      close: async () => client.close(),
    };
  });
});
