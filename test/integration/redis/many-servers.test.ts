// A Cluster of three masters, and a master with a replica under a Sentinel.
import { Redis } from "ioredis";
import { afterEach, describe, expect, it } from "vitest";
import { findFreePorts } from "../../../infra/local/free-ports.js";
import { type LocalRedis, startRedis } from "../../../infra/local/start-redis.js";
import { localParts } from "../../support/backends/local-parts.ts";
import {
  blobAt,
  blobsAt,
  closeStores,
  openStore,
  updateTo,
} from "../../support/redis/redis-store.ts";
import { type LocalSentinel, startSentinel } from "../../support/redis/start-sentinel.ts";

const parts = localParts(["redis"]);
const SLOTS = 16_384;
const NODES = 3;
const CLUSTER_ARGS = ["--cluster-enabled", "yes", "--cluster-node-timeout", "10000"];

async function until<T>(attempt: () => Promise<T>, isRight: (value: T) => boolean): Promise<T> {
  for (let left = 1_200; ; left -= 1) {
    const value = await attempt().catch((error: unknown) =>
      left === 0 ? Promise.reject(error) : null,
    );
    if (value !== null && isRight(value)) return value;
    if (left === 0) throw new Error(`it never came right: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Returns one server's answer to a command. */
async function tell(port: number, command: string, ...words: readonly string[]): Promise<unknown> {
  const redis = new Redis(port, "127.0.0.1", { protocol: 2, maxRetriesPerRequest: 0 });
  redis.on("error", () => undefined);
  try {
    return await redis.call(command, ...words);
  } finally {
    redis.disconnect();
  }
}

describe.skipIf(!parts.available)("checkpoints on several Redis servers", () => {
  const stopping: (() => Promise<void>)[] = [];
  const start = async (args: readonly string[], port?: number): Promise<LocalRedis> => {
    const redis = await startRedis({ args, port });
    stopping.push(() => redis.stop());
    return redis;
  };
  afterEach(async () => {
    closeStores();
    for (const stop of stopping.splice(0)) await stop();
  });

  const startCluster = async (): Promise<readonly LocalRedis[]> => {
    const ports = await findFreePorts(2 * NODES);
    // By default the bus port is 10,000 above the port, in the range of outgoing connections.
    const buses = ports.slice(NODES).map(String);
    const nodes = await Promise.all(
      buses.map((bus, index) => start([...CLUSTER_ARGS, "--cluster-port", bus], ports[index])),
    );
    const first = String(nodes[0]?.port);
    const firstBus = String(buses[0]);
    for (const [index, node] of nodes.entries()) {
      const from = Math.floor((index * SLOTS) / NODES);
      const to = Math.floor(((index + 1) * SLOTS) / NODES) - 1;
      await tell(node.port, "CLUSTER", "ADDSLOTSRANGE", String(from), String(to));
      await tell(node.port, "CLUSTER", "MEET", "127.0.0.1", first, firstBus);
    }
    for (const node of nodes) {
      await until(
        async () => String(await tell(node.port, "CLUSTER", "INFO")),
        (info) => info.includes("cluster_state:ok") && info.includes(`cluster_size:${NODES}`),
      );
    }
    return nodes;
  };

  it("are on the nodes of a Cluster, each partition on one node", async () => {
    const nodes = await startCluster();
    const [first] = nodes;
    const address = `127.0.0.1:${first?.port}`;
    const { store } = openStore({ type: "cluster", nodes: [address] });
    const marks: (string | null)[] = [];
    for (let partition = 0; partition < 12; partition += 1) {
      const update = updateTo(1, blobsAt(700, partition), { replace: true });
      marks.push((await store.save(partition, update, null)).mark);
    }
    for (const [partition, mark] of marks.entries()) {
      const update = updateTo(2, [blobAt("another", 2)], { removals: ["t/0"] });
      expect((await store.save(partition, update, mark)).type).toBe("saved");
      const { checkpoint } = await store.load(partition);
      expect(checkpoint?.count).toBe(700);
      expect(checkpoint?.blobs).toHaveLength(700);
    }
    const sizes = await Promise.all(nodes.map(({ port }) => tell(port, "DBSIZE")));
    expect(sizes.reduce((sum: number, size) => sum + Number(size), 0)).toBe(12);
    expect(sizes.filter((size) => Number(size) > 0)).toHaveLength(NODES);
  });

  it("fail for the partitions of a node that is down only", async () => {
    const nodes = await startCluster();
    const full = ["CONFIG", "SET", "cluster-require-full-coverage", "no"] as const;
    for (const node of nodes) await tell(node.port, ...full);
    const { store } = openStore({
      type: "cluster",
      nodes: nodes.map(({ port }) => `127.0.0.1:${port}`),
    });
    for (let partition = 0; partition < 12; partition += 1) {
      await store.save(partition, updateTo(1, [blobAt("a", 1)], { replace: true }), null);
    }
    const [, gone] = nodes;
    gone?.kill();
    await gone?.waitForExit();
    const answers = await Promise.allSettled(
      Array.from({ length: 12 }, (_, partition) => store.load(partition)),
    );
    const failed = answers.filter(({ status }) => status === "rejected");
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length).toBeLessThan(12);
    expect(failed.map((one) => (one as PromiseRejectedResult).reason.code)).toEqual(
      failed.map(() => "checkpoint_unavailable"),
    );
  });

  it("follow the master that the Sentinels name", async () => {
    const master = await start([]);
    const replica = await start(["--replicaof", "127.0.0.1", String(master.port)]);
    await until(
      async () => String(await tell(replica.port, "INFO", "replication")),
      (info) => info.includes("master_link_status:up"),
    );
    const sentinel: LocalSentinel = await startSentinel("main", master.port);
    stopping.push(() => sentinel.stop());
    await until(
      async () => String(await tell(Number(sentinel.address.split(":")[1]), "INFO", "sentinel")),
      (info) => info.includes("slaves=1"),
    );
    const { store } = openStore({ type: "sentinel", sentinels: [sentinel.address], name: "main" });
    const { mark } = await store.save(0, updateTo(1, [blobAt("a", 1)], { replace: true }), null);
    await until(
      async () => Number(await tell(replica.port, "DBSIZE")),
      (size) => size === 1,
    );
    master.kill();
    await master.waitForExit();
    const saved = await until(
      () => store.save(0, updateTo(2, [blobAt("b", 2)]), mark),
      ({ type }) => type === "saved",
    );
    expect(saved.type).toBe("saved");
    const { checkpoint } = await store.load(0);
    expect(checkpoint?.blobs.map(({ key }) => key).sort()).toEqual(["a", "b"]);
    expect(await tell(replica.port, "DBSIZE")).toBe(1);
  });
});
