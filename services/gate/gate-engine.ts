/** The engine of a gate whose policy may change between two inputs. */
import type { CompiledPolicy } from "../core/policy/compiled.ts";
import { coreFold, createCoreEngine } from "../runtime/core-engine.ts";
import type { Engine } from "../runtime/engine.ts";
import { FatalError } from "../runtime/errors.ts";
import { journalKeepMsMin } from "../runtime/retention.ts";
import { defaultTaskOptions, type TaskOptions } from "../runtime/task-context.ts";
import { TENANT_SCOPE_REMEDY } from "./start-checks.ts";

export type SwitchableEngine = {
  readonly engine: Engine;
  /** Decides under this policy from the next record on. */
  setPolicy(policy: CompiledPolicy): void;
};

export function createSwitchableEngine(policy: CompiledPolicy): SwitchableEngine {
  let current = createCoreEngine(policy);
  // A record is judged and journaled in one synchronous step, so a policy change never falls within
  // it.
  const engine: Engine = {
    ...coreFold,
    get policyRevision() {
      return current.policyRevision;
    },
    get hidesArguments() {
      return current.hidesArguments;
    },
    seal: (state, input, nowMs) => current.seal(state, input, nowMs),
    decide: (state, input, nowMs, readClaim) => current.decide(state, input, nowMs, readClaim),
  };
  return {
    engine,
    setPolicy: (next) => {
      current = createCoreEngine(next);
    },
  };
}

/** @throws FatalError `log_mismatch` for `scope: tenant` on a log where no task sees all conversations of a tenant. */
export function assertScopes({ scopesToTenant }: CompiledPolicy, partitions: number): void {
  if (!scopesToTenant || partitions === 1) return;
  throw new FatalError(
    "log_mismatch",
    `the policy has \`scope: tenant\`, and the log has ${partitions} partitions: ${TENANT_SCOPE_REMEDY}`,
  );
}

/** How long the journal must be retained under a policy, ms. */
export function journalKeepMs(policy: CompiledPolicy): number {
  const { maxAgeMs } = policy.conversation;
  return journalKeepMsMin({ maxAgeMs, longestHoldMs: policy.longestHoldMs });
}

/** @param keepMs how long the journal is retained. */
export function taskOptionsFor(policy: CompiledPolicy, keepMs: number): TaskOptions {
  const journalSpanMs = policy.conversation.maxAgeMs + policy.longestHoldMs;
  return defaultTaskOptions({ keepMs, journalSpanMs });
}
