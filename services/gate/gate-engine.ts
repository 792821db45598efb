/** The engine of a gate whose policy may change between two inputs. */
import type { CompiledPolicy } from "../core/policy/compiled.ts";
import { coreFold, createCoreEngine } from "../runtime/core-engine.ts";
import type { Engine } from "../runtime/engine.ts";
import { journalKeepMsMin } from "../runtime/retention.ts";
import { defaultTaskOptions, type TaskOptions } from "../runtime/task-context.ts";

/** What the core's `decide` is under a policy; tests and benches may put another in its place. */
export type Decide = Engine["decide"];

export type SwitchableEngine = {
  readonly engine: Engine;
  /** Decides under this policy from the next record on. */
  setPolicy(policy: CompiledPolicy): void;
};

/** @param decideUnchecked decides instead of the policy; null but in a bench. */
export function createSwitchableEngine(
  policy: CompiledPolicy,
  decideUnchecked: Decide | null,
): SwitchableEngine {
  const engineOf = (next: CompiledPolicy): Engine => {
    const engine = createCoreEngine(next);
    return decideUnchecked === null ? engine : { ...engine, decide: decideUnchecked };
  };
  let current = engineOf(policy);
  // A record is judged and journaled without a pause, so a switch falls between two of them.
  const engine: Engine = {
    ...coreFold,
    get policyRevision() {
      return current.policyRevision;
    },
    get hidesArguments() {
      return current.hidesArguments;
    },
    seal: (state, input, nowMs) => current.seal(state, input, nowMs),
    decide: (state, input, nowMs) => current.decide(state, input, nowMs),
  };
  return {
    engine,
    setPolicy: (next) => {
      current = engineOf(next);
    },
  };
}

/** How long the journal must be kept under a policy, ms. */
export function journalKeepMs(policy: CompiledPolicy): number {
  const { maxAgeMs } = policy.conversation;
  return journalKeepMsMin({ maxAgeMs, longestHoldMs: policy.longestHoldMs });
}

/** @param keepMs how long the journal is kept. */
export function taskOptionsFor(policy: CompiledPolicy, keepMs: number): TaskOptions {
  const journalSpanMs = policy.conversation.maxAgeMs + policy.longestHoldMs;
  return defaultTaskOptions({ keepMs, journalSpanMs });
}
