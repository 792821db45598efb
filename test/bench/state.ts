/** The size of conversations: bytes of a state in a checkpoint, and the memory of many. */
import { decide } from "../../services/core/decide/decide.ts";
import { evolve } from "../../services/core/state/evolve.ts";
import { packState } from "../../services/core/state/packed-state.ts";
import type { ConversationState } from "../../services/core/state/state.ts";

import type { BenchRow } from "./bench-row.ts";
import { type Checks, fed, type Stream, streamOf } from "./engine.ts";

const LENGTHS = [10, 100, 1_000];
/** The two longer ones exceed every bound except that of time. */
export const EVERY_CHECK_LENGTHS = [10, 1_000, 10_000, 100_000] as const;
const CONVERSATIONS = 10_000;
const CALLS_EACH = 10;
const START_MS = 1_700_000_000_000;
const STEP_MS = 1_000;
const KIB = 1_024;
const MIB = KIB * KIB;

export function stateRowName(length: number, checks: Checks): string {
  const which = checks === "ordinary" ? "" : `, ${checks}`;
  return `state of a conversation of ${length.toLocaleString("en-US")} calls${which}`;
}

export function benchState(): readonly BenchRow[] {
  const stream = streamOf("ordinary");
  return [...LENGTHS.map((length) => sizeRow(stream, length, "ordinary")), memoryRow(stream)];
}

export function benchStateOfEveryCheck(): readonly BenchRow[] {
  const stream = streamOf("every check");
  return EVERY_CHECK_LENGTHS.map((length) => sizeRow(stream, length, "every check"));
}

function sizeRow(stream: Stream, length: number, checks: Checks): BenchRow {
  const bytes = packState(conversation(stream, length, 0)).length;
  return {
    name: stateRowName(length, checks),
    unit: "KiB",
    p50: bytes / KIB,
    note: `${Math.round(bytes / length)} bytes per call`,
  };
}

function memoryRow(stream: Stream): BenchRow {
  if (globalThis.gc === undefined) throw new Error("run it with --expose-gc");
  globalThis.gc();
  const before = process.memoryUsage().heapUsed;
  const conversations = Array.from({ length: CONVERSATIONS }, (_, at) =>
    conversation(stream, CALLS_EACH, at),
  );
  globalThis.gc();
  const bytes = process.memoryUsage().heapUsed - before;
  return {
    name: `memory of ${CONVERSATIONS.toLocaleString("en-US")} conversations of ${CALLS_EACH} calls`,
    unit: "MiB of heap",
    p50: bytes / MIB,
    note: `${Math.round(bytes / conversations.length / KIB)} KiB each`,
  };
}

function conversation(stream: Stream, length: number, round: number): ConversationState {
  const { policy } = stream;
  const calls = stream.calls(length);
  let state = stream.opened(round);
  for (let i = 0; i < length; i += 1) {
    const nowMs = START_MS + i * STEP_MS;
    const input = calls(i, round);
    const events = decide(state, input, policy, nowMs);
    for (const event of events) {
      state = evolve(state, event);
      if (event.type === "allowed") state = fed(state, policy, event, nowMs, input.estimatedCost);
    }
  }
  if (state === undefined) throw new Error("nothing is remembered");
  return state;
}
