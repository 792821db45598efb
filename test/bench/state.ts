/** What is remembered of conversations: bytes of their state as text, and memory of many. */
import { decide } from "../../services/core/decide/decide.ts";
import type { CompiledPolicy } from "../../services/core/policy/compiled.ts";
import { evolve } from "../../services/core/state/evolve.ts";
import { snapshotState } from "../../services/core/state/snapshot.ts";
import type { ConversationState } from "../../services/core/state/state.ts";
import type { BenchRow } from "./bench-row.ts";
import { benchCalls } from "./calls.ts";
import { benchPolicy, fed } from "./engine.ts";

const LENGTHS = [10, 100, 1_000];
const CONVERSATIONS = 10_000;
const CALLS_EACH = 10;
const START_MS = 1_700_000_000_000;
const STEP_MS = 1_000;
const KIB = 1_024;
const MIB = KIB * KIB;

export function benchState(): readonly BenchRow[] {
  const policy = benchPolicy();
  const sizes = LENGTHS.map((length): BenchRow => {
    const bytes = snapshotState(conversation(policy, length, 0)).length;
    return {
      name: `state of a conversation of ${length.toLocaleString("en-US")} calls`,
      unit: "KiB of text",
      p50: bytes / KIB,
      note: `${Math.round(bytes / length)} bytes per call`,
    };
  });
  return [...sizes, memoryRow(policy)];
}

function memoryRow(policy: CompiledPolicy): BenchRow {
  if (globalThis.gc === undefined) throw new Error("run it with --expose-gc");
  globalThis.gc();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: CONVERSATIONS }, (_, at) =>
    conversation(policy, CALLS_EACH, at),
  );
  globalThis.gc();
  const bytes = process.memoryUsage().heapUsed - before;
  return {
    name: `memory of ${CONVERSATIONS.toLocaleString("en-US")} conversations of ${CALLS_EACH} calls`,
    unit: "MiB of heap",
    p50: bytes / MIB,
    note: `${Math.round(bytes / kept.length / KIB)} KiB each`,
  };
}

function conversation(policy: CompiledPolicy, length: number, round: number): ConversationState {
  const calls = benchCalls(length);
  let state: ConversationState | undefined;
  for (let i = 0; i < length; i += 1) {
    const nowMs = START_MS + i * STEP_MS;
    const events = decide(state, calls(i, round), policy, nowMs);
    for (const event of events) {
      state = evolve(state, event);
      if (event.type === "allowed") state = fed(state, policy, event, nowMs);
    }
  }
  if (state === undefined) throw new Error("nothing is remembered");
  return state;
}
