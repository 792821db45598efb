/**
 * Measures the time from the start of a process to its first decision, and makes a data directory
 * for it.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openCallgate } from "../../services/library/callgate.ts";
import type { BenchRow } from "./bench-row.ts";
import { BENCH_POLICY, benchCalls } from "./calls.ts";

const BATCH = 500;

export function startRowName(decisions: number): string {
  return decisions === 0
    ? "first decision, empty directory"
    : `first decision, directory with ${decisions.toLocaleString("en-US")} decisions`;
}

/** Opens a gate with its policy in a file, as a program would, and proposes one call. */
export async function benchStart(dataDir: string, name: string): Promise<readonly BenchRow[]> {
  const policy = join(dataDir, "..", "policy.yaml");
  const gate = await openCallgate({ policy, dataDir });
  const openedMs = performance.now();
  const { outcome } = await gate.propose({
    conversationId: `first-${process.pid}`,
    tool: "search_docs",
    arguments: { query: "open orders" },
  });
  // Counted from the start of the process, including the loading of modules.
  const decidedMs = performance.now();
  await gate.close();
  if (outcome !== "allowed") throw new Error(`the first call was ${outcome}`);
  const note = `of it ${Math.round(decidedMs - openedMs)} ms for the call itself`;
  return [{ name, unit: "ms", p50: decidedMs, note }];
}

export type Filling = {
  readonly dataDir: string;
  readonly decisions: number;
  readonly conversations?: number;
  /** The process is killed at the end. */
  readonly isKilled?: boolean;
};

/** Writes the policy beside the data directory and proposes calls, each with its result. */
export async function fillDirectory({
  dataDir,
  decisions,
  conversations = 200,
  isKilled = false,
}: Filling): Promise<readonly BenchRow[]> {
  const policy = join(dataDir, "..", "policy.yaml");
  mkdirSync(dirname(policy), { recursive: true });
  writeFileSync(policy, JSON.stringify(BENCH_POLICY));
  if (decisions === 0) return [];
  const gate = await openCallgate({ policy, dataDir });
  const calls = benchCalls(1_000);
  for (let from = 0; from < decisions; from += BATCH) {
    const proposed = Array.from({ length: Math.min(BATCH, decisions - from) }, async (_, i) => {
      const at = from + i;
      const conversation = at % conversations;
      const input = calls(Math.floor(at / conversations) + conversation, conversation);
      const decision = await gate.propose({
        conversationId: input.conversationId,
        callId: input.callId,
        turn: "1",
        step: input.step ?? "1",
        tool: input.tool,
        arguments: String(input.arguments),
      });
      if (decision.decisionId === undefined) throw new Error("a call was not decided");
      const output = { ok: true, id: decision.decisionId };
      await gate.report(decision.decisionId, { status: "succeeded", output, durationMs: 12 });
    });
    await Promise.all(proposed);
  }
  if (isKilled) process.kill(process.pid, "SIGKILL");
  await gate.close();
  return [];
}
