/**
 * Memory over time: conversations come, make five calls and go, at 70 % of what the process can do.
 * The plot of its resident memory is written beside the other files of the bench.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LmdbStateStore } from "../../services/adapters/lmdb/lmdb-state-store.ts";
import type { BenchRow } from "./bench-row.ts";
import { BENCH_POLICY } from "./calls.ts";
import { SmallGate } from "./many-conversations.ts";

export type SoakLoad = { readonly minutes: number };

const CACHE = "node_modules/.cache/callgate-bench";
const MIB = 1024 * 1024;
const MEMORY_BYTES = 64 * MIB;
const SHARE = 0.7;
const BATCH = 200;
const MS_PER_MINUTE = 60_000;
/** Of the gate's time, which is that of its inputs: so 20,000 conversations live at once. */
const MS_PER_CALL = 10;
const IDLE_MS = 1_000_000;
const POLICY = { ...BENCH_POLICY, conversation: { idle_ms: IDLE_MS } };
const SAMPLES = 300;

type Sample = { readonly minute: number; readonly residentMib: number; readonly heapMib: number };

export const SOAK_EARLY = "resident memory, second quarter of the time";
export const SOAK_LATE = "resident memory, last quarter of the time";

export async function benchSoak({ minutes }: SoakLoad): Promise<readonly BenchRow[]> {
  const directory = mkdtempSync(join(process.cwd(), CACHE, "soak-"));
  const store = new LmdbStateStore(directory);
  try {
    const gate = new SmallGate(store, MEMORY_BYTES, { policy: POLICY, msPerCall: MS_PER_CALL });
    const samples: Sample[] = [];
    const startedMs = performance.now();
    const totalMs = minutes * MS_PER_MINUTE;
    let conversations = 0;
    for (let nowMs = startedMs; nowMs - startedMs < totalMs; nowMs = performance.now()) {
      const due = ((nowMs - startedMs) / totalMs) * SAMPLES;
      if (samples.length <= due) samples.push(sampleAt((nowMs - startedMs) / MS_PER_MINUTE));
      await gate.run(conversations, BATCH);
      conversations += BATCH;
      const workedMs = performance.now() - nowMs;
      await sleep(workedMs / SHARE - workedMs);
    }
    const plot = join(CACHE, "memory.svg");
    writeFileSync(plot, plotOf(samples));
    const note = `${conversations.toLocaleString("en")} conversations, ${gate.size.toLocaleString("en")} at the end; ${plot}`;
    return [
      {
        name: SOAK_EARLY,
        unit: "MiB",
        p50: medianOf(quarter(samples, 1)),
        note: `${minutes} minutes`,
      },
      { name: SOAK_LATE, unit: "MiB", p50: medianOf(quarter(samples, 3)), note },
    ];
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

function sampleAt(minute: number): Sample {
  const { rss, heapUsed } = process.memoryUsage();
  return { minute, residentMib: rss / MIB, heapMib: heapUsed / MIB };
}

function quarter(samples: readonly Sample[], number: number): readonly Sample[] {
  const size = Math.floor(samples.length / 4);
  return samples.slice(number * size, (number + 1) * size);
}

function medianOf(samples: readonly Sample[]): number {
  const sorted = samples.map(({ residentMib }) => residentMib).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

const WIDTH = 800;
const HEIGHT = 300;
const MARGIN = 50;

function plotOf(samples: readonly Sample[]): string {
  const last = samples.at(-1)?.minute ?? 1;
  const most = Math.max(...samples.map(({ residentMib }) => residentMib)) * 1.1;
  const x = (minute: number): number => MARGIN + (minute / last) * (WIDTH - 2 * MARGIN);
  const y = (mib: number): number => HEIGHT - MARGIN - (mib / most) * (HEIGHT - 2 * MARGIN);
  const line = (of: (sample: Sample) => number, color: string): string => {
    const points = samples.map((one) => `${x(one.minute).toFixed(1)},${y(of(one)).toFixed(1)}`);
    return `<polyline fill="none" stroke="${color}" points="${points.join(" ")}"/>`;
  };
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" font-family="sans-serif" font-size="12">
<title>Resident memory and used heap over time</title>
<rect width="100%" height="100%" fill="white"/>
<line x1="${MARGIN}" y1="${y(0)}" x2="${WIDTH - MARGIN}" y2="${y(0)}" stroke="gray"/>
<text x="${MARGIN}" y="20">resident memory (blue) and used heap (green), MiB; up to ${Math.round(most)}</text>
<text x="${WIDTH - MARGIN}" y="${HEIGHT - 20}" text-anchor="end">${last.toFixed(0)} minutes</text>
${line(({ residentMib }) => residentMib, "blue")}
${line(({ heapMib }) => heapMib, "green")}
</svg>
`;
}
