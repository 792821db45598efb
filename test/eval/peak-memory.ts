/** Peak memory of `callgate replay` on one file, and on the same file fifty times over. */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { peakMegabytes, runCallgate } from "../support/run-callgate.ts";

export interface PeakMemory {
  readonly file: string;
  readonly times: number;
  readonly onceMegabytes: number;
  readonly oftenMegabytes: number;
}

const TIMES = 50;

export async function peakMemory(
  recordings: string,
  policy: string,
  scratch: string,
): Promise<PeakMemory> {
  const packed = readFileSync(recordings);
  const often = join(scratch, "often.jsonl.gz");
  writeFileSync(often, packed);
  // Packed files after one another are one packed file.
  for (let time = 1; time < TIMES; time += 1) appendFileSync(often, packed);
  const measure = async (path: string) => {
    const args = ["replay", path, "--policy", policy, "--json"];
    const run = await runCallgate(args, { reportPeak: true });
    if (run.code !== 0) throw new Error(`callgate replay ended with ${run.code}: ${run.stderr}`);
    return peakMegabytes(run);
  };
  const onceMegabytes = await measure(recordings);
  const oftenMegabytes = await measure(often);
  rmSync(often);
  return { file: recordings, times: TIMES, onceMegabytes, oftenMegabytes };
}
