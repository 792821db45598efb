// How long a partition is without a decision when its gate is killed, and when gates are replaced in
// order; then how fast the journal that is left is replayed, and what its states take.
import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { BenchRow } from "../bench-row.ts";
import type { BenchSettings } from "./bench-gate.ts";
import { type Checkpoints, type Gate, type GateParts, Gates } from "./gates.ts";
import type { PartResult } from "./part-result.ts";
import { runLoad } from "./shared-bench.ts";
import { Trickle } from "./trickle.ts";

export const KILLED_WITH_REDIS = "longest time without a decision after SIGKILL, with Redis";
export const KILLED_WITHOUT = "longest time without a decision after SIGKILL, without Redis";
export const EXCHANGED = "longest time without a decision while gates are replaced in order";
export const REPLAY = "replay of the journal";
export const MEMORY = "memory of 100,000 conversations";

const PARTITIONS = 4;
const CALLS_EACH = 5;
const CHECKPOINT_EVERY = 5_000;
const SETTLE_MS = 3_000;
const AFTERWARDS_MS = 3_000;
const DECIDED_WITHIN_MS = 120_000;
/** Earlier commits are visible by then, and nobody takes over so soon. */
const IN_FLIGHT_MS = 300;

export type DeathSizes = { readonly inputs: number; readonly rounds: number };

export type DeathParts = GateParts & {
  /** The compiled program beside this file. */
  readonly replayChild: string;
};

export async function measureDeaths(
  parts: DeathParts,
  sizes: DeathSizes,
  wanted: { readonly deaths: boolean; readonly replay: boolean },
): Promise<PartResult> {
  const name = `deaths-${process.pid}`;
  const topics = { IN: `${name}-proposed`, OUT: name, P: String(PARTITIONS) };
  const { brokers } = parts.bench;
  const settings: BenchSettings = {
    ...{ brokers: brokers.split(","), input: topics.IN, output: name, group: `${name}-group` },
    ...{ partitions: PARTITIONS, redisUrl: undefined, checkpointEvery: CHECKPOINT_EVERY },
  };
  await runLoad(parts.bench, "preload", {
    ...{ IN: topics.IN, P: topics.P, N: String(sizes.inputs) },
    CONVERSATIONS: String(Math.round(sizes.inputs / CALLS_EACH)),
  });
  const gates = new Gates(parts, {
    ...{ ...topics, GROUP: settings.group, BROKERS: brokers },
    CHECKPOINT_EVERY: String(CHECKPOINT_EVERY),
  });
  try {
    const first = await gates.start("redis");
    const trickle = await Trickle.start(settings);
    // A partition is decided in order, so once these calls are decided all earlier ones are.
    await trickle.decidedAfter(performance.now(), DECIDED_WITHIN_MS);
    const rows = wanted.deaths ? await deathRows(gates, first, trickle, sizes.rounds) : [];
    await trickle.stop();
    await gates.stopAll();
    const replays = wanted.replay ? sizes.rounds : 0;
    const replayResults = Array.from({ length: replays }, () =>
      replayRows(parts, gates.env),
    ).flat();
    return { rows: [...rows, ...replayResults], failures: [] };
  } finally {
    await gates.stopAll();
    await runLoad(parts.bench, "clean", { TOPIC_PREFIX: name });
  }
}

async function deathRows(
  gates: Gates,
  first: Gate,
  trickle: Trickle,
  rounds: number,
): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = [];
  const add = (name: string, p50: number): void => void rows.push({ name, unit: "ms", p50 });
  let running = first;
  for (let round = 0; round < rounds; round += 1) {
    await sleep(SETTLE_MS);
    ({ running } = await killed(gates, running, trickle, "redis", (ms) =>
      add(KILLED_WITH_REDIS, ms),
    ));
    await sleep(SETTLE_MS);
    const sinceMs = performance.now();
    const next = await gates.start("redis");
    await running.stop();
    await trickle.decidedAfter(performance.now(), DECIDED_WITHIN_MS);
    await sleep(AFTERWARDS_MS);
    add(EXCHANGED, trickle.longestGapMs(sinceMs));
    ({ running } = await killed(gates, next, trickle, "none", (ms) => add(KILLED_WITHOUT, ms)));
  }
  return rows;
}

/** Kills one gate and starts another at once. */
async function killed(
  gates: Gates,
  running: Gate,
  trickle: Trickle,
  checkpoints: Checkpoints,
  recordGap: (gapMs: number) => void,
): Promise<{ readonly running: Gate }> {
  const sinceMs = performance.now();
  running.kill();
  const starting = gates.start(checkpoints);
  // Decisions of the killed gate may still arrive.
  await running.ended;
  await trickle.decidedAfter(performance.now() + IN_FLIGHT_MS, DECIDED_WITHIN_MS);
  recordGap(trickle.longestGapMs(sinceMs));
  return { running: await starting };
}

function replayRows(
  { replayChild, nodeArgs }: DeathParts,
  env: NodeJS.ProcessEnv,
): readonly BenchRow[] {
  const args = [...nodeArgs, "--expose-gc", replayChild];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`the replay ended with ${status}: ${stderr}`);
  const {
    records,
    conversations,
    records_per_s: perSecond,
    mb_per_100k: megabytes,
  } = JSON.parse(stdout) as Readonly<Record<string, number>>;
  const note = `${records} records, ${conversations} conversations`;
  return [
    { name: REPLAY, unit: "records/s", p50: perSecond ?? Number.NaN, note },
    {
      ...{ name: MEMORY, unit: "MB of heap", p50: megabytes ?? Number.NaN },
      note: `of ${CALLS_EACH} calls each`,
    },
  ];
}
