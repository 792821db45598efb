// A Redis that is down, hung, full, or refuses us; each test starts a server.
import { afterEach, describe, expect, it } from "vitest";
import { type LocalRedis, startRedis } from "../../../infra/local/start-redis.js";
import { RetryableError } from "../../../services/runtime/errors.ts";
import { localParts } from "../../support/backends/local-parts.ts";
import {
  blobAt,
  blobsAt,
  closeStores,
  heldBy,
  openStore,
  updateTo,
} from "../../support/redis/redis-store.ts";

const parts = localParts(["redis"]);

/** Returns the error of a call that must fail. */
async function failure(call: Promise<unknown>): Promise<RetryableError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(RetryableError);
  expect((error as RetryableError).code).toBe("checkpoint_unavailable");
  return error as RetryableError;
}

async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = 1_200; ; left -= 1) {
    try {
      return await attempt();
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

describe.skipIf(!parts.available)("checkpoints without a Redis that answers", () => {
  const started: LocalRedis[] = [];
  const start = async (args: readonly string[] = []): Promise<LocalRedis> => {
    const redis = await startRedis({ args });
    started.push(redis);
    return redis;
  };
  afterEach(async () => {
    closeStores();
    for (const redis of started.splice(0)) await redis.stop();
  });

  it("fail while it is down, log it once, and go on when it is back", async () => {
    const redis = await start();
    const { store, lines } = openStore(redis.url);
    await store.save(0, updateTo(1, [blobAt("a", 1)], { replace: true }), null);
    redis.kill();
    await redis.waitForExit();
    const error = await failure(store.load(0));
    expect(error.message).toContain(`127.0.0.1:${redis.port}`);
    await failure(store.save(0, updateTo(2, []), "m"));
    await redis.restart();
    expect(await eventually(() => heldBy(store))).toEqual({
      offset: undefined,
      seqs: {},
      problem: null,
    });
    expect(lines.map(({ message }) => message)).toEqual([
      "Redis is not reachable; decisions go on without checkpoints",
      "Redis answers again",
    ]);
  });

  it("fail at once where no server listens", async () => {
    const redis = await start();
    await redis.stop();
    const { store } = openStore(redis.url);
    await failure(store.load(0));
    await failure(store.load(0));
  });

  it("fail when it hangs; a save that it made all the same is recognized afterwards", async () => {
    const redis = await start();
    const { store } = openStore(redis.url, { commandTimeoutMs: 2_000 });
    const { mark } = await store.save(0, updateTo(1, [blobAt("a", 1)], { replace: true }), null);
    redis.kill("SIGSTOP");
    await failure(store.save(0, updateTo(2, [blobAt("b", 2)]), mark));
    redis.kill("SIGCONT");
    const saved = await eventually(() =>
      store.save(0, updateTo(3, [blobAt("b", 2), blobAt("c", 3)]), mark),
    );
    expect(saved.type).toBe("saved");
    expect(await heldBy(store)).toMatchObject({ offset: 3, seqs: { a: 1, b: 2, c: 3 } });
  });

  it("fail when it hangs in a save that replaces; the next save takes over", async () => {
    const redis = await start();
    const { store } = openStore(redis.url, { commandTimeoutMs: 2_000 });
    const { mark } = await store.save(0, updateTo(1, [blobAt("a", 1)], { replace: true }), null);
    const rest = async () => {
      redis.kill("SIGSTOP");
    };
    const pace = { inHaste: false, rest };
    const update = updateTo(2, blobsAt(700, 2), { replace: true, pace });
    await failure(store.save(0, update, mark));
    redis.kill("SIGCONT");
    const again = updateTo(3, blobsAt(700, 3), { replace: true });
    const saved = await eventually(() => store.save(0, again, mark));
    expect(saved.type).toBe("saved");
    expect((await heldBy(store)).offset).toBe(3);
  });

  it("fail when it is full and evicts nothing; the earlier checkpoint stays whole", async () => {
    const redis = await start(["--maxmemory", "4mb", "--maxmemory-policy", "noeviction"]);
    const { store } = openStore(redis.url);
    const { mark } = await store.save(0, updateTo(1, [blobAt("a", 1)], { replace: true }), null);
    const error = await failure(store.save(0, updateTo(2, blobsAt(900, 2, 8_192)), mark));
    expect(error.message).toContain("maxmemory");
    const { checkpoint } = await store.load(0);
    expect(checkpoint?.header.journalOffset).toBe(1);
    expect(checkpoint?.count).toBe(checkpoint?.blobs.length);
  });

  it("are lost as a whole when it evicts", async () => {
    const redis = await start(["--maxmemory", "6mb", "--maxmemory-policy", "allkeys-lru"]);
    const { store } = openStore(redis.url);
    await store.save(0, updateTo(1, blobsAt(100, 1, 8_192), { replace: true }), null);
    for (let other = 1; other < 12; other += 1) {
      const update = updateTo(1, blobsAt(100, 1, 8_192), { replace: true });
      await store.save(other, update, null).catch(() => undefined);
    }
    expect(await store.load(0)).toEqual({ mark: null, checkpoint: null, problem: null });
  });

  it("fail where the database does not exist, and write nothing into another one", async () => {
    const redis = await start(["--databases", "2"]);
    const { store, lines } = openStore(`${redis.url}/7`);
    const update = updateTo(1, [blobAt("a", 1)], { replace: true });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const error = await failure(store.save(0, update, null));
      expect(error.message).toContain(
        "the server has no such database, see the number in `redis.url`",
      );
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    expect((await openStore(redis.url).store.load(0)).mark).toBeNull();
    expect(lines.map(({ message }) => message)).toEqual([
      "Redis is not reachable; decisions go on without checkpoints",
    ]);
    const other = openStore(`${redis.url}/1`).store;
    expect((await other.save(0, update, null)).type).toBe("saved");
    expect((await openStore(redis.url).store.load(0)).mark).toBeNull();
  });

  it("fail where the password is wrong, without the password in the message", async () => {
    const redis = await start(["--requirepass", "the-right-one"]);
    const withLogin = redis.url.replace("redis://", "redis://:a-wrong-one@");
    for (const opened of [
      openStore(withLogin),
      openStore(redis.url, { password: "a-wrong-one" }),
      openStore(redis.url),
    ]) {
      const error = await failure(opened.store.load(0));
      const output = JSON.stringify([opened.lines, error.message, error.cause, error.stack]);
      expect(output).not.toContain("a-wrong-one");
    }
    const { store } = openStore(redis.url, { password: "the-right-one" });
    expect((await store.load(0)).mark).toBeNull();
  });
});
