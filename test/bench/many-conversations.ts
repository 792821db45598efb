/**
 * Many conversations of five calls in one process: the real engine, state and store, without a log.
 * Each call is a proposal and its result, committed in batches as the task does.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { LmdbStateStore } from "../../services/adapters/lmdb/lmdb-state-store.ts";
import { systemClock } from "../../services/adapters/system/clock.ts";
import type { GateEvent } from "../../services/core/events.ts";
import type { GateInput, ProposalInput } from "../../services/core/inputs.ts";
import { ColdConversations } from "../../services/runtime/cold-conversations.ts";
import { coreFold, createCoreEngine } from "../../services/runtime/core-engine.ts";
import type { Engine } from "../../services/runtime/engine.ts";
import { PartitionState } from "../../services/runtime/partition-state.ts";
import { conversationKey } from "../../services/runtime/partitioner.ts";
import type { Log } from "../../services/runtime/ports.ts";
import { noMetrics, quietLogger } from "../../services/runtime/quiet-logger.ts";
import { StagedState } from "../../services/runtime/staged-state.ts";
import { StateSaver } from "../../services/runtime/state-saver.ts";
import { type BenchRow, percentile } from "./bench-row.ts";
import { BENCH_POLICY, benchCalls } from "./calls.ts";
import { benchPolicy } from "./engine.ts";

/** `memoryBytes` null: all conversations stay in memory. */
export type ManyConversations = {
  readonly conversations: number;
  readonly memoryBytes: number | null;
};

const PARTITION = 0;
const CALLS_EACH = 5;
const BATCH = 200;
const SAMPLES = 20_000;
/** So few that they stay in memory, and so many that they stay short. */
const HOT_CONVERSATIONS = 2_000;
const WORST = 0.99;
const SETTLED_MS = 1_100;
const START_MS = 1_700_000_000_000;
const MIB = 1024 * 1024;
const US_PER_MS = 1_000;
/** Enough for `headerOf`, which names the log that a position is of. */
const LOG = { clusterId: "bench", topicId: () => "bench" } as unknown as Log;

/** Names of the rows. */
export function manyRow(figure: string, { conversations, memoryBytes }: ManyConversations): string {
  const budget = memoryBytes === null ? "all in memory" : `${memoryBytes / MIB} MiB`;
  return `${figure}, ${conversations.toLocaleString("en-US")} conversations, ${budget}`;
}

export const RESIDENT = "resident memory";
export const HOT = "decision, hot";
export const COLD = "decision, cold";
export const READY = "ready with the local store";

export async function benchManyConversations(
  load: ManyConversations,
): Promise<readonly BenchRow[]> {
  const directory = mkdtempSync(join(process.cwd(), "node_modules/.cache/callgate-bench/state-"));
  const store = load.memoryBytes === null ? null : new LmdbStateStore(directory);
  try {
    const gate = new SmallGate(store, load.memoryBytes ?? 0);
    await gate.fill(load.conversations);
    const filled = process.memoryUsage.rss();
    const hot = await gate.measure(SAMPLES, (at) => at % HOT_CONVERSATIONS);
    const rows = [latencyRow(manyRow(HOT, load), hot)];
    if (store === null) return rows;
    // A stride that visits conversations long after each was in memory.
    const cold = await gate.measure(SAMPLES, (at) => (at * 7_919) % load.conversations);
    const { text, bytes } = residentMemory();
    await gate.finish();
    rows.push(latencyRow(manyRow(COLD, load), cold));
    rows.push(sizeRow(manyRow(RESIDENT, load), Math.max(bytes, filled), `MiB; ${text}`));
    const each = Math.round(store.bytes / load.conversations);
    rows.push(sizeRow(manyRow("bytes on disk", load), store.bytes, `MiB, ${each} bytes each`));
    rows.push(await readyRow(directory, store, load));
    return rows;
  } finally {
    await store?.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** One partition: what a task does with its inputs, without a log. */
export class SmallGate {
  readonly #state: PartitionState;
  readonly #saver: StateSaver | null;
  readonly #engine: Engine;
  readonly #shapes = benchCalls(1_000);
  /** Number of the next call of conversations that were filled. */
  #call = CALLS_EACH;
  readonly #msPerCall: number;
  #nowMs = START_MS;
  #seq = 0;

  constructor(
    store: LmdbStateStore | null,
    memoryBytes: number,
    { policy = BENCH_POLICY, msPerCall = 1 }: { policy?: object; msPerCall?: number } = {},
  ) {
    this.#engine = createCoreEngine(benchPolicy(policy));
    this.#msPerCall = msPerCall;
    const cold =
      store === null
        ? null
        : {
            conversations: new ColdConversations(store, PARTITION, coreFold),
            memoryBytes: () => memoryBytes,
          };
    this.#state = new PartitionState(coreFold, cold);
    this.#state.unsaved.inCheckpoint.stop();
    this.#saver =
      store === null
        ? null
        : new StateSaver({
            ...{ partition: PARTITION, log: LOG, store, clock: systemClock },
            ...{ logger: quietLogger, metrics: noMetrics, everyRecords: 50_000 },
          });
    this.#saver?.begin(0);
  }

  async fill(conversations: number): Promise<void> {
    for (let from = 0; from < conversations; from += BATCH) {
      await this.run(from, Math.min(BATCH, conversations - from));
    }
  }

  /** µs of the decision on a proposal and of applying it, of so many calls. */
  async measure(samples: number, conversationAt: (at: number) => number): Promise<Float64Array> {
    const times: number[] = [];
    for (let at = 0; at < samples; at += BATCH) {
      const batch = Array.from({ length: BATCH }, (_, i) => conversationAt(at + i));
      await this.#commit(batch, this.#call, times);
      this.#call += 1;
    }
    return Float64Array.from(times);
  }

  get size(): number {
    return this.#state.size;
  }

  /** All calls of so many new conversations, which are numbered from the given one. */
  async run(first: number, conversations: number): Promise<void> {
    const batch = Array.from({ length: conversations }, (_, at) => first + at);
    for (let call = 0; call < CALLS_EACH; call += 1) await this.#commit(batch, call, null);
  }

  /** What a gate does after its last call. */
  async finish(): Promise<void> {
    await sleep(SETTLED_MS);
    this.#saver?.saveIfDue(this.#state);
    await this.#saver?.finish(this.#state);
  }

  /** @param call number of the call in each of the conversations. */
  async #commit(
    conversations: readonly number[],
    call: number,
    times: number[] | null,
  ): Promise<void> {
    const staged = new StagedState(this.#state);
    for (const conversation of conversations) {
      this.#nowMs += this.#msPerCall;
      const start = performance.now();
      const [event] = this.#apply(staged, this.#proposal(conversation, call));
      times?.push((performance.now() - start) * US_PER_MS);
      if (event?.type !== "allowed") throw new Error(`not allowed: ${JSON.stringify(event)}`);
      this.#apply(staged, resultOf(event));
    }
    this.#dropLapsed(staged);
    this.#state.apply(staged.change(this.#seq, this.#nowMs));
    this.#saver?.noteCommit(this.#state);
    await this.#saver?.makeRoom(this.#state);
    // A commit waits for its log here.
    await nextTurn();
  }

  /** As a task does at each record with a hash. */
  #dropLapsed(staged: StagedState): void {
    const lapse = staged.lapse(this.#nowMs, staged.progress.stateSum);
    staged.acceptLapse(lapse);
    staged.advance({ ...staged.progress, stateSum: lapse.stateSum });
  }

  #apply(staged: StagedState, input: ProposalInput | GateInput): readonly GateEvent[] {
    if (input.type === "tick") return [];
    const key = conversationKey(input.tenantId, input.conversationId);
    const events = this.#engine.decide(staged.state(key), input, this.#nowMs);
    this.#seq += 1;
    const { stateSum } = staged.applyEvents(events, this.#seq);
    const clocks = { ...staged.progress.clocks, proposals: this.#nowMs };
    staged.advance({ ...staged.progress, seq: this.#seq, clocks, stateSum });
    return events;
  }

  #proposal(conversation: number, call: number): ProposalInput {
    const { callId, ...shape } = this.#shapes(call, conversation);
    return {
      ...shape,
      conversationId: `conversation-${conversation}`,
      callId: `${callId}-${this.#seq}`,
    };
  }
}

function resultOf(event: Extract<GateEvent, { type: "allowed" }>): GateInput {
  return {
    type: "result",
    tenantId: event.tenantId,
    conversationId: event.conversationId,
    callId: event.call.callId,
    decisionId: event.decisionId,
    status: "succeeded",
    output: `{"ok":true,"id":"${event.decisionId}"}`,
    outputDigest: null,
    outputBytes: null,
    error: null,
    durationMs: 12,
    cost: null,
  };
}

/** Time to read what a state needs of the store to decide, in a store that was opened anew. */
async function readyRow(
  directory: string,
  opened: LmdbStateStore,
  load: ManyConversations,
): Promise<BenchRow> {
  await opened.close();
  const start = performance.now();
  const store = new LmdbStateStore(directory);
  const { summary } = store.look(PARTITION);
  if (summary === null) throw new Error("the store has no position");
  const cold = {
    conversations: new ColdConversations(store, PARTITION, coreFold),
    memoryBytes: () => load.memoryBytes ?? 0,
  };
  const state = PartitionState.resume(coreFold, cold, summary, store.entries(PARTITION));
  const ms = performance.now() - start;
  if (state.size !== load.conversations) throw new Error(`${state.size} conversations came back`);
  await store.close();
  return { name: manyRow(READY, load), unit: "ms", p50: ms, note: "and the tail of the journal" };
}

function latencyRow(name: string, samples: Float64Array): BenchRow {
  const sorted = samples.sort();
  return { name, unit: "µs", p50: percentile(sorted, 0.5), p99: percentile(sorted, WORST) };
}

function sizeRow(name: string, bytes: number, note: string): BenchRow {
  return { name, unit: "MiB", p50: bytes / MIB, note };
}

function residentMemory(): { readonly bytes: number; readonly text: string } {
  const bytes = process.memoryUsage.rss();
  if (process.platform !== "linux") return { bytes, text: "heap and mapped file" };
  const status = readFileSync("/proc/self/status", "utf8");
  const of = (name: string): number =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024);
  const most = Math.round(process.resourceUsage().maxRSS / 1024);
  const text = `${of("RssAnon")} of the process, ${of("RssFile")} of mapped files, at most ${most}`;
  return { bytes, text };
}
