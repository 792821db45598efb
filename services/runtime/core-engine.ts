import { decide } from "../core/decide/decide.ts";
import type { CompiledPolicy } from "../core/policy/compiled.ts";
import { sealProposal } from "../core/seal/seal-arguments.ts";
import { MissingSecretError } from "../core/seal/sealing.ts";
import { hasLapsed, nextDeadlineMs } from "../core/state/deadline.ts";
import { evolve } from "../core/state/evolve.ts";
import { packState, unpackState } from "../core/state/packed-state.ts";
import type { Engine, StateFold } from "./engine.ts";
import { FatalError } from "./errors.ts";

export const coreFold: StateFold = {
  evolve,
  nextDeadlineMs,
  snapshot: packState,
  restore: unpackState,
};

/** Wraps the core under one policy as the engine of a stream task. */
export function createCoreEngine(policy: CompiledPolicy): Engine {
  return {
    ...coreFold,
    policyRevision: policy.revision,
    hidesArguments: policy.hidesArguments,
    seal: (state, input, nowMs) => {
      if (!policy.hidesArguments || input.type !== "proposal") return input;
      const live = state === undefined || hasLapsed(state, nowMs) ? undefined : state;
      return withSecret(() => sealProposal(live, input, policy));
    },
    decide: (state, input, nowMs, readClaim) =>
      policy.hidesArguments || state?.sealKeyId !== undefined
        ? withSecret(() => decide(state, input, policy, nowMs, readClaim))
        : decide(state, input, policy, nowMs, readClaim),
  };
}

function withSecret<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof MissingSecretError)) throw error;
    throw new FatalError("secret_missing", error.message, { cause: error });
  }
}
