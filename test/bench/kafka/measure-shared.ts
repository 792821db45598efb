// The parts of the bench that `../shared/bench/run.sh` measures: throughput and paced latency of the bare
// loop, of the gate and of Kafka Streams, on the same records and the same broker.
import type { BenchRow } from "../bench-row.ts";
import type { PartResult } from "./part-result.ts";
import { runShared, type SharedBench, type SharedLine } from "./shared-bench.ts";

export type System = { readonly spec: string; readonly name: string };

const SYSTEMS: readonly System[] = [
  { spec: "limit:500", name: "bare loop" },
  { spec: "cmd:gate", name: "gate" },
  { spec: "streams:20:memory", name: "Kafka Streams" },
];

const MICROS_PER_SECOND = 1_000_000;

export const throughputRow = (partitions: number, system: string): string =>
  `throughput, ${partitions} partition${partitions === 1 ? "" : "s"}: ${system}`;
export const cpuRow = (partitions: number, system: string): string =>
  `processor time of an input, ${partitions} partition${partitions === 1 ? "" : "s"}: ${system}`;
export const pacedRow = (rate: number, system: string): string =>
  `latency at ${rate} a second: ${system}`;

export type SharedSizes = {
  readonly inputs: number;
  readonly partitions: readonly number[];
  readonly rates: readonly number[];
  readonly seconds: number;
  readonly warmUpSeconds: number;
};

/** One round of all systems, back to back. */
export function measureThroughput(
  bench: SharedBench,
  { inputs, partitions }: SharedSizes,
): Promise<PartResult> {
  const options = { N: String(inputs), PARTITIONS: partitions.join(" ") };
  return measureSystems(bench, SYSTEMS, options, partitions.length);
}

/** @param repeats lines of each system */
export async function measureSystems(
  bench: SharedBench,
  systems: readonly System[],
  options: Readonly<Record<string, string>>,
  repeats = 1,
): Promise<PartResult> {
  const lines = await runShared(bench, {
    ...{ MODE: "throughput", SYSTEMS: specsOf(systems) },
    ...options,
  });
  return resultOf(lines, systems, repeats, throughputRows);
}

/** One round of all systems, back to back. */
export async function measurePaced(
  bench: SharedBench,
  { rates, seconds, warmUpSeconds }: SharedSizes,
): Promise<PartResult> {
  const lines = await runShared(bench, {
    MODE: "paced",
    SYSTEMS: specsOf(SYSTEMS),
    PARTITIONS: "4",
    RATES: rates.join(" "),
    DURATION: String(seconds),
    WARM: String(warmUpSeconds),
  });
  return resultOf(lines, SYSTEMS, rates.length, pacedRows);
}

function specsOf(systems: readonly System[]): string {
  return systems.map(({ spec }) => spec).join(" ");
}

function resultOf(
  lines: readonly SharedLine[],
  systems: readonly System[],
  repeats: number,
  rowsOf: (line: SharedLine, name: string) => readonly BenchRow[],
): PartResult {
  const nameOf = ({ system }: SharedLine): string =>
    systems.find(({ spec }) => spec === system)?.name ?? system;
  const failures = lines.flatMap((line) => failureOf(line, nameOf(line)));
  const count = systems.length * repeats;
  if (lines.length !== count) failures.push(`${lines.length} of ${count} runs gave a figure`);
  const rows = lines.flatMap((line) => rowsOf(line, nameOf(line)));
  return { rows, failures };
}

function failureOf(line: SharedLine, name: string): string[] {
  const what = `${name}, ${line.mode}`;
  if (line.failed === true) return [`${what}: it failed`];
  if (line.exactly_once !== true) return [`${what}: decisions are missing or doubled`];
  return (line.wrongly_routed ?? 0) === 0 ? [] : [`${what}: ${line.wrongly_routed} routed wrongly`];
}

function throughputRows(line: SharedLine, name: string): readonly BenchRow[] {
  const { P, N, inputs_per_s: perSecond, cpu_s: cpuS, rss_mb: memory } = line;
  if (perSecond === undefined || cpuS === undefined || N === undefined) return [];
  const note = `${memory} MB resident`;
  return [
    { name: throughputRow(P, name), unit: "inputs/s", p50: perSecond, note },
    { name: cpuRow(P, name), unit: "µs", p50: (cpuS * MICROS_PER_SECOND) / N },
  ];
}

function pacedRows(line: SharedLine, name: string): readonly BenchRow[] {
  const { rate, p50_ms: p50, p99_ms: p99 } = line;
  if (rate === undefined || p50 === undefined || p99 === undefined) return [];
  return [{ name: pacedRow(rate, name), unit: "ms", p50, p99 }];
}
