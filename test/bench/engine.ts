/**
 * What one call costs in the engine: `decide` and `evolve` of the proposal, canonical form and
 * digests included, at several conversation lengths. The result of each allowed call is fed
 * between measurements, untimed.
 */

import { loadPolicy } from "../../services/adapters/policy/load.ts";
import { decide } from "../../services/core/decide/decide.ts";
import type { CallAllowed, GateEvent } from "../../services/core/events.ts";
import type { GateInput } from "../../services/core/inputs.ts";
import { compilePolicy } from "../../services/core/policy/compile-policy.ts";
import type { CompiledPolicy } from "../../services/core/policy/compiled.ts";
import { evolve } from "../../services/core/state/evolve.ts";
import type { ConversationState } from "../../services/core/state/state.ts";
import { capabilities } from "../../services/gate/capabilities.ts";
import { type BenchRow, percentile } from "./bench-row.ts";
import { BENCH_POLICY, benchCalls } from "./calls.ts";

export const ENGINE_LENGTHS = [10, 1_000, 100_000] as const;

export function engineRowName(length: number): string {
  return `decide + evolve, conversations of ${length.toLocaleString("en-US")} calls`;
}

/** Calls timed for each length: every length has as many samples. */
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

/** @throws Error where a call was not allowed: another engine would have been timed. */
export function benchEngine(length: number): readonly BenchRow[] {
  const policy = benchPolicy();
  timeConversations(policy, WARM_UP.length, WARM_UP.calls);
  const samples = timeConversations(policy, length, SAMPLES).sort();
  return [
    {
      name: engineRowName(length),
      unit: "µs",
      p50: percentile(samples, 0.5),
      p99: percentile(samples, 0.99),
    },
  ];
}

function timeConversations(policy: CompiledPolicy, length: number, total: number): Float64Array {
  const samples = new Float64Array(total);
  const calls = benchCalls(length);
  let at = 0;
  for (let round = 0; at < total; round += 1) {
    let state: State;
    for (let i = 0; i < length && at < total; i += 1) {
      const nowMs = START_MS + i * STEP_MS;
      const input = calls(i, round);
      const start = performance.now();
      const events = decide(state, input, policy, nowMs);
      for (const event of events) state = evolve(state, event);
      samples[at] = (performance.now() - start) * US_PER_MS;
      at += 1;
      state = fed(state, policy, allowedOf(events), nowMs);
    }
  }
  return samples;
}

function allowedOf(events: readonly GateEvent[]): CallAllowed {
  const [event] = events;
  if (event?.type === "allowed") return event;
  throw new Error(`a call of the bench was not allowed: ${JSON.stringify(event)}`);
}

/** The state after an allowed call has succeeded. */
export function fed(state: State, policy: CompiledPolicy, call: CallAllowed, nowMs: number): State {
  const result: GateInput = {
    type: "result",
    tenantId: call.tenantId,
    conversationId: call.conversationId,
    callId: call.callId,
    decisionId: call.decisionId,
    status: "succeeded",
    output: `{"ok":true,"id":"${call.decisionId}"}`,
    outputDigest: null,
    outputBytes: null,
    error: null,
    durationMs: 12,
    cost: null,
  };
  let after = state;
  for (const done of decide(after, result, policy, nowMs)) after = evolve(after, done);
  return after;
}
