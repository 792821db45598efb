import { compilePolicy } from "../../core/policy/compile-policy.ts";
import { capabilities } from "../../gate/capabilities.ts";
import type { GatePolicy } from "../../gate/gate-policy.ts";
import type { ReplayPolicy } from "./replay-conversation.ts";

export function replayPolicy({ document, compiled }: GatePolicy): ReplayPolicy {
  const shadow = { ...document, mode: "shadow" } as const;
  const { revision, keyId, sealing } = compiled;
  const shadowed = compilePolicy(shadow, capabilities, { revision, keyId, sealing });
  // It compiled with `mode` as written, and no value of `mode` can cause a problem.
  if (!shadowed.ok) throw new Error("the policy does not compile in `mode: shadow`");
  return { enforced: compiled, shadowed: shadowed.policy };
}
