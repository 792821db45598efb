import { decide } from "../core/decide/decide.ts";
import type { CompiledPolicy } from "../core/policy/compiled.ts";
import { hasLapsed, nextDeadlineMs } from "../core/state/deadline.ts";
import { evolve } from "../core/state/evolve.ts";
import { restoreState, snapshotState } from "../core/state/snapshot.ts";
import type { Engine, StateFold } from "./engine.ts";

export const coreFold: StateFold = {
  evolve,
  nextDeadlineMs,
  hasLapsed,
  snapshot: snapshotState,
  restore: restoreState,
};

/** The core under a policy, as the stream task uses it. */
export function createCoreEngine(policy: CompiledPolicy): Engine {
  return {
    ...coreFold,
    policyRevision: policy.revision,
    decide: (state, input, nowMs) => decide(state, input, policy, nowMs),
  };
}
