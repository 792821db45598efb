/** The recorded conversations that the evaluation replays: data beside the repository. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { sharedData } from "../support/shared-data.ts";

export const SOURCES = [
  "agentdojo",
  "api-bank",
  "bfcl",
  "nestful",
  "swe-agent",
  "tau-bench",
  "tau2-bench",
] as const;

export interface Source {
  readonly name: (typeof SOURCES)[number];
  /** Tool list that the policy is imported from. */
  readonly tools: string;
  readonly recordings: string;
}

export interface EvalData {
  readonly directory: string;
  readonly sources: readonly Source[];
}

/** The data, or the missing parts of it. */
export function findEvalData(): EvalData | { readonly missing: string } {
  const { available, path: directory, reason } = sharedData("trajectories");
  if (!available) return { missing: reason };
  const sources = SOURCES.map((name) => ({
    name,
    tools: join(directory, `${name}.tools.json`),
    recordings: join(directory, "open", `${name}.jsonl.gz`),
  }));
  const needed = [
    join(directory, "score.py"),
    join(directory, "reference_rules.py"),
    ...sources.flatMap(({ tools, recordings }) => [tools, recordings]),
  ];
  const absent = needed.filter((path) => !existsSync(path));
  return absent.length === 0
    ? { directory, sources }
    : { missing: `not found: ${absent.join(", ")}` };
}
