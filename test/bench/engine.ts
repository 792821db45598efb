/**
 * What one call costs in the engine: `decide` and `evolve` of the proposal, canonical form and
 * digests included, at several conversation lengths. The result of each allowed call is fed
 * between measurements, untimed.
 */
import { capabilities } from "../../services/gate/capabilities.ts";
import { loadPolicy } from "../../services/adapters/policy/load.ts";
import { decide } from "../../services/core/decide/decide.ts";
import type { GateInput } from "../../services/core/inputs.ts";
import { compilePolicy } from "../../services/core/policy/compile-policy.ts";
import type { CompiledPolicy } from "../../services/core/policy/compiled.ts";
import { evolve } from "../../services/core/state/evolve.ts";
import { snapshotState } from "../../services/core/state/snapshot.ts";
import type { ConversationState } from "../../services/core/state/state.ts";
import { type BenchRow, percentile } from "./bench-row.ts";
import { benchCalls, BENCH_POLICY } from "./calls.ts";

export function benchPolicy(document: object = BENCH_POLICY): CompiledPolicy {
  const loaded = loadPolicy(document);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems, null, 1));
  const options = { revision: loaded.digest, keyId: "bench" };
  const compiled = compilePolicy(loaded.document, capabilities, options);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems, null, 1));
  return compiled.policy;
}

/** Total calls timed for each length, so that every length has as many samples. */
const SAMPLES = 100_000;

export function benchEngine(): BenchRow[] {
  const policy = benchPolicy();
  runLength(policy, 1_000, 30_000);
  return [10, 1_000, 100_000].map((length) => runLength(policy, length, SAMPLES));
}

function runLength(policy: CompiledPolicy, length: number, total: number): BenchRow {
  const samples = new Float64Array(total);
  const calls = benchCalls(length);
  let at = 0;
  let bytes = 0;
  for (let round = 0; at < total; round++) {
    let state: ConversationState | undefined;
    for (let i = 0; i < length && at < total; i++) {
      const nowMs = 1_700_000_000_000 + i * 1_000;
      const input = calls(i, round);
      const start = performance.now();
      const events = decide(state, input, policy, nowMs);
      for (const event of events) state = evolve(state, event);
      samples[at++] = (performance.now() - start) * 1_000;
      const [event] = events;
      if (event?.type === "allowed") state = fed(state, policy, event, nowMs);
    }
    if (state !== undefined && bytes === 0) bytes = snapshotState(state).length;
  }
  samples.sort();
  return {
    name: `decide + evolve, conversation of ${length} calls`,
    unit: "µs",
    p50: percentile(samples, 0.5),
    p99: percentile(samples, 0.99),
    note: `state ${Math.round(bytes / 1024)} KiB as JSON`,
  };
}

function fed(
  before: ConversationState | undefined,
  policy: CompiledPolicy,
  event: { decisionId: string; callId: string; conversationId: string },
  nowMs: number,
): ConversationState | undefined {
  const input: GateInput = {
    type: "result",
    tenantId: "default",
    conversationId: event.conversationId,
    callId: event.callId,
    decisionId: event.decisionId,
    status: "succeeded",
    output: `{"ok":true,"id":"${event.decisionId}"}`,
    outputDigest: null,
    outputBytes: null,
    error: null,
    durationMs: 12,
    cost: null,
  };
  let state = before;
  for (const done of decide(state, input, policy, nowMs)) state = evolve(state, done);
  return state;
}

if (process.argv[1]?.match(/engine\.[jt]s$/)) {
  for (const row of benchEngine()) process.stdout.write(`${JSON.stringify(row)}\n`);
}
