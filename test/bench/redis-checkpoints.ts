// `npx tsx test/bench/redis-checkpoints.ts`: what checkpoints on a Redis of this machine cost, by the size
// of a conversation. The server's own clock tells how long a step holds up everybody else.
import { Redis } from "ioredis";
import { startRedis } from "../../infra/local/start-redis.js";
import { RedisCheckpoints } from "../../services/adapters/redis/redis-checkpoints.ts";
import { RedisClient } from "../../services/adapters/redis/redis-client.ts";
import { blobsAt, updateTo } from "../support/redis/redis-store.ts";
import { createTestLogger } from "../support/runtime-kit.ts";

const CONVERSATIONS = 20_000;
const BLOB_BYTES = [300, 2_000, 8_000];
const ROUNDS = 3;
const SLOW_MAX = 100_000;
const MS_PER_SECOND = 1_000;

type Round = {
  readonly writtenPerS: number;
  readonly rewrittenPerS: number;
  readonly loadedPerS: number;
  readonly stepMsMedian: number;
  readonly stepMsMax: number;
};

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

async function perSecond(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return CONVERSATIONS / ((performance.now() - startedAt) / MS_PER_SECOND);
}

async function runRound(url: string, bytes: number): Promise<Round> {
  const raw = new Redis(url, { protocol: 2 });
  await raw.flushall();
  await raw.config("SET", "slowlog-max-len", String(SLOW_MAX));
  await raw.config("SET", "slowlog-log-slower-than", "0");
  await raw.slowlog("RESET");
  const client = new RedisClient(
    {
      server: { type: "single", url },
      clientName: "callgate-bench",
      commandTimeoutMs: 10_000,
      connectTimeoutMs: 10_000,
    },
    createTestLogger([]),
  );
  const store = new RedisCheckpoints({
    client,
    scope: { clusterId: "cluster", topic: "decisions", group: "bench" },
    loadMsMax: 60_000,
  });
  const first = updateTo(1, blobsAt(CONVERSATIONS, 1, bytes), { replace: true });
  const again = updateTo(2, blobsAt(CONVERSATIONS, 2, bytes));
  let mark: string | null = null;
  const save = async (update: typeof first): Promise<void> => {
    ({ mark } = await store.save(0, update, mark));
  };
  const writtenPerS = await perSecond(() => save(first));
  const rewrittenPerS = await perSecond(() => save(again));
  const loadedPerS = await perSecond(() => store.load(0));
  const log = (await raw.slowlog("GET", String(SLOW_MAX))) as [number, number, number, string[]][];
  const steps = log.filter(([, , , words]) => words[0] === "eval").map(([, , us]) => us / 1_000);
  client.close();
  raw.disconnect();
  const stepMsMax = Math.max(...steps);
  return { writtenPerS, rewrittenPerS, loadedPerS, stepMsMedian: median(steps), stepMsMax };
}

const redis = await startRedis();
process.stdout.write(
  "| bytes | new/s | again/s | loaded/s | step median ms | step max ms |\n|---:|---:|---:|---:|---:|---:|\n",
);
for (const bytes of BLOB_BYTES) {
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await runRound(redis.url, bytes));
  const cell = (pick: (round: Round) => number, digits = 0) =>
    median(rounds.map(pick)).toFixed(digits);
  const cells = [
    cell((round) => round.writtenPerS),
    cell((round) => round.rewrittenPerS),
    cell((round) => round.loadedPerS),
    cell((round) => round.stepMsMedian, 2),
    cell((round) => round.stepMsMax, 2),
  ];
  process.stdout.write(`| ${bytes} | ${cells.join(" | ")} |\n`);
}
await redis.stop();
