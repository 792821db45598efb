/**
 * The whole embedded pipeline with its log on disk, every commit flushed: from `propose` to the
 * decision that is in the journal. Beside it the same pipeline with a gate that allows everything:
 * what is left is what the log and the library cost.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeSecret } from "../../services/adapters/config/secret-file.ts";
import type { Callgate } from "../../services/client/api/callgate.ts";
import type { Decision, ProposedCall } from "../../services/client/api/gate-types.ts";
import { composeCallgate } from "../../services/client/compose-callgate.ts";
import { GateClient } from "../../services/client/gate-client.ts";
import { decide } from "../../services/core/decide/decide.ts";
import { linkToEmbedded } from "../../services/library/embedded-link.ts";
import { openEmbedded } from "../../services/library/open-embedded.ts";
import { decide as allowAll } from "./allow-all.ts";
import { type BenchRow, percentile } from "./bench-row.ts";
import { BENCH_POLICY, benchCalls } from "./calls.ts";

/** `policy, Node's default heap`: the policy in a process without flags. */
export type PipelineGate = "policy" | "policy, Node's default heap" | "allow all";

export type PipelineLoad = {
  readonly conversations: number;
  readonly calls: number;
  readonly warmUp: number;
  readonly inFlight: number;
  /** Calls timed one after the other, and at a steady rate. */
  readonly alone: number;
  readonly paced: number;
  readonly pacedPerSecond: number;
  /**
   * Saturated calls at the end, long enough to include checkpoints and collections of the old
   * generation.
   */
  readonly onEnd: number;
};

const TIMEOUT_MS = 60_000;
const MS_PER_SECOND = 1_000;
const WORST = 0.99;

/** Figures of the last calls. */
export function onEndFigure({ onEnd }: PipelineLoad): string {
  return `decisions, saturated, ${onEnd.toLocaleString("en")} more on end`;
}

export function pipelineRowName(figure: string, gate: PipelineGate): string {
  return `${figure}, ${gate === "allow all" ? "gate that allows everything" : gate}`;
}

/**
 * The data directory is under the working directory, since the folder of temporary files may be in
 * memory.
 */
export async function benchPipeline(
  gate: PipelineGate,
  load: PipelineLoad,
): Promise<readonly BenchRow[]> {
  if ((decide === allowAll) !== (gate === "allow all")) throw new Error("another gate decides");
  const secret = makeSecret();
  const dataDir = mkdtempSync(join(process.cwd(), "node_modules/.cache/callgate-bench/data-"));
  try {
    const embedded = await openEmbedded({
      policy: { document: BENCH_POLICY },
      dataDir,
      secret: secret.bytes,
    });
    const link = linkToEmbedded(embedded);
    const client = new GateClient(link, { timeoutMs: TIMEOUT_MS, onLost: undefined });
    const callgate = composeCallgate(link, client);
    try {
      return await measure(callgate, gate, load);
    } finally {
      await callgate.close();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measure(
  callgate: Callgate,
  gate: PipelineGate,
  load: PipelineLoad,
): Promise<readonly BenchRow[]> {
  const calls = proposedCalls(load);
  await saturated(callgate, made(calls, load.warmUp), load.inFlight);
  const busy = await saturated(callgate, made(calls, load.calls), load.inFlight);
  const alone = await oneByOne(callgate, calls, load.alone);
  const paced = await atRate(callgate, calls, load.paced, load.pacedPerSecond);
  const onEnd = await saturated(callgate, made(calls, load.onEnd), load.inFlight);
  return [
    {
      name: pipelineRowName("decisions, saturated", gate),
      unit: "per second",
      p50: busy.perSecond,
    },
    {
      name: pipelineRowName("processor time of a decision, saturated", gate),
      unit: "µs",
      p50: busy.cpuUs,
      note: "all threads, garbage collection and flushes included",
    },
    { name: pipelineRowName(onEndFigure(load), gate), unit: "per second", p50: onEnd.perSecond },
    latencyRow(pipelineRowName(`propose, ${load.inFlight} in flight`, gate), busy.latencies),
    latencyRow(pipelineRowName("propose, 1 in flight", gate), alone),
    latencyRow(pipelineRowName(`propose, ${load.pacedPerSecond} per second`, gate), paced),
  ];
}

function latencyRow(name: string, latencies: Float64Array): BenchRow {
  const sorted = latencies.sort();
  return { name, unit: "ms", p50: percentile(sorted, 0.5), p99: percentile(sorted, WORST) };
}

/** Calls of the conversations in turn, as many agents make them side by side. */
function proposedCalls({ conversations }: PipelineLoad): () => ProposedCall {
  const shapes = benchCalls(1_000);
  let next = 0;
  return () => {
    const at = Math.floor(next / conversations);
    const conversation = next % conversations;
    const { callId, tool, arguments: text, turn, step } = shapes(at + conversation, conversation);
    next += 1;
    return {
      conversationId: `conversation-${conversation}`,
      callId,
      agentId: "agent-7",
      turn: turn ?? "1",
      step: step ?? "1",
      tool,
      arguments: text ?? "{}",
    };
  };
}

async function timed(callgate: Callgate, call: ProposedCall): Promise<number> {
  const start = performance.now();
  const decision = await callgate.propose(call);
  const elapsedMs = performance.now() - start;
  assertAllowed(decision);
  return elapsedMs;
}

function assertAllowed(decision: Decision): void {
  if (decision.outcome === "allowed") return;
  throw new Error(`a call of the bench was not allowed: ${JSON.stringify(decision)}`);
}

type Saturated = {
  readonly perSecond: number;
  readonly cpuUs: number;
  readonly latencies: Float64Array;
};

/**
 * Made before they are timed, since agents get their calls from models, not from the gate's CPU.
 */
function made(calls: () => ProposedCall, total: number): readonly ProposedCall[] {
  return Array.from({ length: total }, calls);
}

async function saturated(
  callgate: Callgate,
  calls: readonly ProposedCall[],
  inFlight: number,
): Promise<Saturated> {
  const total = calls.length;
  const latencies = new Float64Array(total);
  let at = 0;
  const agent = async (): Promise<void> => {
    while (at < total) {
      const mine = at;
      at += 1;
      latencies[mine] = await timed(callgate, calls[mine] as ProposedCall);
    }
  };
  const before = process.cpuUsage();
  const start = performance.now();
  await Promise.all(Array.from({ length: inFlight }, agent));
  const perSecond = (total / (performance.now() - start)) * MS_PER_SECOND;
  const { user, system } = process.cpuUsage(before);
  return { perSecond, cpuUs: (user + system) / total, latencies };
}

async function oneByOne(
  callgate: Callgate,
  calls: () => ProposedCall,
  total: number,
): Promise<Float64Array> {
  const latencies = new Float64Array(total);
  for (let at = 0; at < total; at += 1) latencies[at] = await timed(callgate, calls());
  return latencies;
}

/** Each call starts when it is due, whether or not the earlier ones are answered. */
async function atRate(
  callgate: Callgate,
  calls: () => ProposedCall,
  total: number,
  perSecond: number,
): Promise<Float64Array> {
  const start = performance.now();
  const pending = Array.from({ length: total }, async (_, at) => {
    const dueMs = (at * MS_PER_SECOND) / perSecond;
    await new Promise((resolve) => setTimeout(resolve, dueMs - (performance.now() - start)));
    return timed(callgate, calls());
  });
  return Float64Array.from(await Promise.all(pending));
}
