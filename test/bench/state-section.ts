/** The section on conversations that do not fit into memory. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { STATE_FILE } from "../../services/adapters/lmdb/lmdb-state-store.ts";
import { child, inRounds, killedChild, type Measured } from "./children.ts";
import { COLD, HOT, type ManyConversations, manyRow, RESIDENT } from "./many-conversations.ts";
import type { Section } from "./section.ts";
import { SOAK_EARLY, SOAK_LATE } from "./soak.ts";
import type { Target } from "./targets.ts";
import { zipfRow } from "./zipf.ts";

const MIB = 1024 * 1024;
const STATE_BUDGET = 512 * MIB;
const MANY: readonly ManyConversations[] = [10_000, 100_000, 1_000_000].map((conversations) => ({
  conversations,
  memoryBytes: STATE_BUDGET,
}));
const IN_MEMORY: ManyConversations = { conversations: 10_000, memoryBytes: null };
const FEWEST: ManyConversations = { conversations: 10_000, memoryBytes: STATE_BUDGET };
/** `CALLGATE_SOAK_MINUTES=60` for the figure that docs/benchmarks.md publishes. */
const SOAK_MINUTES = Number(process.env["CALLGATE_SOAK_MINUTES"] ?? 3);
const COLD_US_MAX = 2_000;
const KILLED = { conversations: 60_000, decisions: 300_000 };

/** A gate is killed and starts again twice: with its state store, and when that was deleted. */
function startsAfterKill(scratch: string): Measured {
  const dataDir = join(scratch, "killed", "data");
  const name = `first decision after a kill, ${KILLED.conversations.toLocaleString("en-US")} conversations`;
  const remove = (): [] => {
    rmSync(join(dataDir, STATE_FILE));
    return [];
  };
  return inRounds(1, [
    killedChild("fill", { dataDir, ...KILLED, isKilled: true }),
    child("start", { dataDir, name: `${name}, with the local store` }),
    { name: "the state store is deleted", run: remove },
    child("start", { dataDir, name: `${name}, without` }),
  ]);
}

export const stateSection: Section = {
  name: "state",
  title: "Many conversations of five calls, with 512 MiB for them",
  rounds: 1,
  isLong: true,
  targets: [
    ...MANY.map((load): Target => ({ row: manyRow(RESIDENT, load), figure: "p50", atMost: 1_024 })),
    ...MANY.map(
      (load): Target => ({ row: manyRow(COLD, load), figure: "p99", atMost: COLD_US_MAX }),
    ),
    { row: manyRow(HOT, FEWEST), per: manyRow(HOT, IN_MEMORY), figure: "p50", atMost: 1.1 },
    {
      row: zipfRow({ memory: "256 MiB" }),
      per: zipfRow({ memory: "all" }),
      figure: "p50",
      atLeast: 0.9,
    },
    { row: SOAK_LATE, per: SOAK_EARLY, figure: "p50", atMost: 1.1 },
  ],
  run: async (scratch) => {
    const few = inRounds(3, [
      child("many-conversations", IN_MEMORY),
      child("many-conversations", FEWEST),
    ]);
    const many = inRounds(
      1,
      MANY.slice(1).map((load) => child("many-conversations", load)),
    );
    const starts = startsAfterKill(scratch);
    const zipf = inRounds(1, [
      child("zipf", { memory: "all" }),
      child("zipf", { memory: "256 MiB" }),
    ]);
    const soak = inRounds(1, [child("soak", { minutes: SOAK_MINUTES })]);
    const measured = [few, many, starts, zipf, soak];
    return {
      tables: measured.map(({ rows }) => ({ base: null, rows })),
      failures: measured.flatMap(({ failures }) => failures),
      missing: [],
    };
  },
};
