/** Replays all recordings of one source through its policy as imported. */
import { readFileSync, writeFileSync } from "node:fs";
import { importTools } from "../../services/cli/policy/import/import-tools.ts";
import { decisionLine } from "../../services/cli/replay/decision-line.ts";
import { replayConversation, replayPolicy } from "../../services/cli/replay/replay-conversation.ts";
import { replayFiles } from "../../services/cli/replay/replay-files.ts";
import { openPolicy } from "../../services/gate/gate-policy.ts";
import { type Case, findCases, type RepeatedReads } from "./find-cases.ts";
import type { Source } from "./sources.ts";

export interface SourceRun {
  readonly name: string;
  readonly conversations: number;
  readonly calls: number;
  readonly brokenLines: readonly string[];
  /** The time, including policy import, unpacking, parsing and output. */
  readonly elapsedMs: number;
  /** The time of canonical form, decision and state. */
  readonly decidingMs: number;
  /** Lines for the scorer. */
  readonly decisions: string;
  readonly cases: readonly Case[];
  readonly reads: RepeatedReads;
}

const AS_RECORDED = { feedRefused: false, applyStops: false, heldAllow: false };

export async function replaySource(source: Source, policyPath: string): Promise<SourceRun> {
  const startedAt = performance.now();
  const json: unknown = JSON.parse(readFileSync(source.tools, "utf8"));
  const imported = importTools([{ name: source.tools, json }], "tools");
  if (!imported.ok) throw new Error(`${source.tools}: ${JSON.stringify(imported.problems)}`);
  writeFileSync(policyPath, imported.yaml);
  const policy = replayPolicy(await openPolicy([policyPath]));

  const brokenLines: string[] = [];
  const lines: string[] = [];
  const cases: Case[] = [];
  const reads = { answered: 0, run: 0 };
  let conversations = 0;
  let decidingMs = 0;
  const onBrokenLine = (message: string) => brokenLines.push(message);
  const options = { ...AS_RECORDED, onBrokenLine };
  for await (const replayed of replayFiles([source.recordings], policy, options)) {
    conversations += 1;
    decidingMs += timeOf(() => replayConversation(replayed.conversation, policy, AS_RECORDED));
    for (const call of replayed.calls) {
      lines.push(`${JSON.stringify(decisionLine(replayed.conversation.id, call))}\n`);
    }
    const findings = findCases(source.name, replayed);
    cases.push(...findings.cases);
    reads.answered += findings.reads.answered;
    reads.run += findings.reads.run;
  }
  return {
    name: source.name,
    conversations,
    calls: lines.length,
    brokenLines,
    elapsedMs: performance.now() - startedAt - decidingMs,
    decidingMs,
    decisions: lines.join(""),
    cases,
    reads,
  };
}

function timeOf(run: () => unknown): number {
  const startedAt = performance.now();
  run();
  return performance.now() - startedAt;
}
