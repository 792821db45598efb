/**
 * What one call costs in the engine: `decide` and `evolve` of the proposal, canonical form and
 * digests included, at several conversation lengths. The result of each allowed call is fed
 * between measurements, untimed.
 */

import { loadPolicy } from "../../services/adapters/policy/load.ts";
import { decide } from "../../services/core/decide/decide.ts";
import type { CallAllowed, GateEvent } from "../../services/core/events.ts";
import type { GateInput, Money, ProposalInput } from "../../services/core/inputs.ts";
import { compilePolicy } from "../../services/core/policy/compile-policy.ts";
import type { CompiledPolicy } from "../../services/core/policy/compiled.ts";
import { evolve } from "../../services/core/state/evolve.ts";
import type { ConversationState } from "../../services/core/state/state.ts";
import { capabilities } from "../../services/gate/capabilities.ts";
import { type BenchRow, percentile } from "./bench-row.ts";
import { BENCH_POLICY, benchCalls } from "./calls.ts";
import { EVERY_CHECK_POLICY, everyCheckCalls, heldCall, NO_CHECK_POLICY } from "./every-check.ts";

/** The ordinary policy on ordinary calls, or one stream of calls with every check on or none. */
export type Checks = "ordinary" | "every check" | "no check";

export const ENGINE_LENGTHS = [10, 1_000, 100_000] as const;

export function engineRowName(length: number, checks: Checks = "ordinary"): string {
  const which = checks === "ordinary" ? "" : `${checks}, `;
  return `decide + evolve, ${which}conversations of ${length.toLocaleString("en-US")} calls`;
}

/** Timed calls for each length, so that every length has the same number of samples. */
const SAMPLES = 100_000;
const WARM_UP = { length: 1_000, calls: 30_000 };
const START_MS = 1_700_000_000_000;
const STEP_MS = 1_000;
const US_PER_MS = 1_000;

type State = ConversationState | undefined;

export function benchPolicy(document: object = BENCH_POLICY): CompiledPolicy {
  const loaded = loadPolicy(document);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems, null, 1));
  const options = { revision: loaded.digest, keyId: "bench" };
  const compiled = compilePolicy(loaded.document, capabilities, options);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems, null, 1));
  return compiled.policy;
}

export interface Stream {
  readonly policy: CompiledPolicy;
  /** The i-th call of a conversation. */
  readonly calls: (length: number) => (at: number, round: number) => ProposalInput;
  /** Before the first call. */
  readonly opened: (round: number) => State;
}

export function streamOf(checks: Checks): Stream {
  if (checks === "ordinary") {
    return { policy: benchPolicy(), calls: benchCalls, opened: () => undefined };
  }
  const isOn = checks === "every check";
  const policy = benchPolicy(isOn ? EVERY_CHECK_POLICY : NO_CHECK_POLICY);
  const opened = (round: number): State => {
    let state: State;
    for (const event of decide(state, heldCall(round), policy, START_MS)) {
      if (event.type !== "held") throw new Error("a transfer was not held");
      state = evolve(state, event);
    }
    return state;
  };
  return { policy, calls: everyCheckCalls, opened: isOn ? opened : () => undefined };
}

/** @throws Error where a call was not allowed: another engine would have been timed. */
export function benchEngine(length: number, checks: Checks): readonly BenchRow[] {
  const stream = streamOf(checks);
  timeConversations(stream, WARM_UP.length, WARM_UP.calls);
  const samples = timeConversations(stream, length, SAMPLES).sort();
  return [
    {
      name: engineRowName(length, checks),
      unit: "µs",
      p50: percentile(samples, 0.5),
      p99: percentile(samples, 0.99),
    },
  ];
}

function timeConversations(stream: Stream, length: number, total: number): Float64Array {
  const { policy } = stream;
  const samples = new Float64Array(total);
  const calls = stream.calls(length);
  let at = 0;
  for (let round = 0; at < total; round += 1) {
    let state = stream.opened(round);
    for (let i = 0; i < length && at < total; i += 1) {
      const nowMs = START_MS + i * STEP_MS;
      const input = calls(i, round);
      const start = performance.now();
      const events = decide(state, input, policy, nowMs);
      for (const event of events) state = evolve(state, event);
      samples[at] = (performance.now() - start) * US_PER_MS;
      at += 1;
      state = fed(state, policy, allowedOf(events), nowMs, input.estimatedCost);
    }
  }
  return samples;
}

function allowedOf(events: readonly GateEvent[]): CallAllowed {
  const [event] = events;
  if (event?.type === "allowed") return event;
  throw new Error(`a call of the bench was not allowed: ${JSON.stringify(event)}`);
}

/** The state after an allowed call has succeeded. `cost`: the cost of the call. */
export function fed(
  state: State,
  policy: CompiledPolicy,
  call: CallAllowed,
  nowMs: number,
  cost: Money | null,
): State {
  const result: GateInput = {
    type: "result",
    tenantId: call.tenantId,
    conversationId: call.conversationId,
    callId: call.call.callId,
    decisionId: call.decisionId,
    status: "succeeded",
    output: `{"ok":true,"id":"${call.decisionId}"}`,
    outputDigest: null,
    outputBytes: null,
    error: null,
    durationMs: 12,
    cost,
  };
  let after = state;
  for (const done of decide(after, result, policy, nowMs)) after = evolve(after, done);
  return after;
}
