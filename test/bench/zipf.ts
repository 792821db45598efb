/**
 * The embedded pipeline under calls of which most are of few conversations (Zipf, exponent 1), with
 * memory for all conversations, or for a part of them. A busy agent begins a new conversation after
 * twenty calls.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeSecret } from "../../services/adapters/config/secret-file.ts";
import type { Callgate } from "../../services/client/api/callgate.ts";
import type { ProposedCall } from "../../services/client/api/gate-types.ts";
import { composeCallgate } from "../../services/client/compose-callgate.ts";
import { GateClient } from "../../services/client/gate-client.ts";
import { linkToEmbedded } from "../../services/library/embedded-link.ts";
import { openEmbedded } from "../../services/library/open-embedded.ts";
import type { BenchRow } from "./bench-row.ts";
import { BENCH_POLICY, benchCalls, seededArguments } from "./calls.ts";

export type ZipfLoad = { readonly memory: "all" | "256 MiB" };

const CONVERSATIONS = 20_000;
const FILLED_CALLS = 3;
const CALLS_EACH_MAX = 20;
const CALLS = 60_000;
const IN_FLIGHT = 500;
const TIMEOUT_MS = 60_000;
const MS_PER_SECOND = 1_000;
const MIB = 1024 * 1024;
const MEMORY_BYTES = {
  all: 8_192 * MIB,
  "256 MiB": 256 * MIB,
} as const;

export function zipfRow({ memory }: ZipfLoad): string {
  const room = memory === "all" ? "all in memory" : memory;
  return `decisions, saturated, most to few conversations, ${room}`;
}

export async function benchZipf(load: ZipfLoad): Promise<readonly BenchRow[]> {
  const dataDir = mkdtempSync(join(process.cwd(), "node_modules/.cache/callgate-bench/zipf-"));
  try {
    const embedded = await openEmbedded({
      policy: { document: BENCH_POLICY },
      dataDir,
      secret: makeSecret().bytes,
      memoryBytes: MEMORY_BYTES[load.memory],
    });
    const link = linkToEmbedded(embedded);
    const client = new GateClient(link, { timeoutMs: TIMEOUT_MS, onLost: undefined });
    const callgate = composeCallgate(link, client);
    try {
      const callOf = callMaker();
      await propose(callgate, CONVERSATIONS * FILLED_CALLS, (at) => callOf(at % CONVERSATIONS));
      const ranks = zipfRanks();
      const start = performance.now();
      await propose(callgate, CALLS, () => callOf(ranks()));
      const perSecond = (CALLS / (performance.now() - start)) * MS_PER_SECOND;
      return [{ name: zipfRow(load), unit: "per second", p50: perSecond }];
    } finally {
      await callgate.close();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function propose(
  callgate: Callgate,
  total: number,
  callAt: (at: number) => ProposedCall,
): Promise<void> {
  let at = 0;
  const agent = async (): Promise<void> => {
    while (at < total) {
      const call = callAt(at);
      at += 1;
      const { outcome, decisionId } = await callgate.propose(call);
      // A conversation of thousands of calls without a result has some refused: that is a decision too.
      if (decisionId === undefined)
        throw new Error(`a call of the bench was ${outcome} without one`);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, agent));
}

/** Each call of a conversation has other arguments than those before it. */
function callMaker(): (conversation: number) => ProposedCall {
  const shapes = benchCalls(100_000);
  const made = new Uint32Array(CONVERSATIONS);
  return (conversation) => {
    const at = made[conversation] ?? 0;
    made[conversation] = at + 1;
    const { callId, tool, arguments: text, step } = shapes(at, conversation);
    return {
      conversationId: `conversation-${conversation}-${Math.floor(at / CALLS_EACH_MAX)}`,
      ...{ callId, agentId: "agent-7", tool },
      turn: String(Math.floor((at % CALLS_EACH_MAX) / 20)),
      step: step ?? "1",
      arguments: text ?? "{}",
    };
  };
}

/** Conversations by a seeded generator: the k-th most frequent occurs 1/k times as often as the first. */
function zipfRanks(): () => number {
  const { n } = seededArguments();
  const cumulated: number[] = [];
  let total = 0;
  for (let rank = 1; rank <= CONVERSATIONS; rank += 1) {
    total += 1 / rank;
    cumulated.push(total);
  }
  return () => {
    const wanted = (n(1e9) / 1e9) * total;
    let low = 0;
    let high = CONVERSATIONS - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((cumulated[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
