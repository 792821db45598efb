/** The policy at hand, and the line of a rule in it. */
import type { GatePolicy } from "../../gate/gate-policy.ts";
import { ExitError } from "../../process/exit-error.ts";
import { Problem } from "../http/problem.ts";
import type { ServedGate } from "../served-gate.ts";

export type RuleLocation = {
  /** `file:line:column`, `preset`, or `always`; null: there is no policy, or no rule. */
  readonly location: string | null;
  /** Null: the server has no policy. */
  readonly policyRevision: string | null;
};

/** @throws Problem 422 if the policy's files cannot be used */
export async function locateRule(served: ServedGate, rule: string | null): Promise<RuleLocation> {
  const policy = await policyOf(served);
  if (policy === null) return { location: null, policyRevision: null };
  const { loaded, compiled } = policy;
  const policyRevision = compiled.revision;
  if (rule === null) return { location: null, policyRevision };
  if (rule === "gate") return { location: "always", policyRevision };
  const at = loaded.source.locate(rule);
  if (at === null || at.path === "") return { location: "preset", policyRevision };
  return { location: `${at.file}:${at.line}:${at.column}`, policyRevision };
}

/** Null: the gate is on Kafka, and the configuration names no policy. @throws Problem 422 */
export async function policyOf({ policy }: ServedGate): Promise<GatePolicy | null> {
  try {
    return (await policy?.()) ?? null;
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    throw new Problem({
      status: 422,
      code: "policy_unreadable",
      detail: `the policy of the server's configuration cannot be used: ${error.message}`,
      remedy: "Correct the files that `policy.files` of the configuration names",
    });
  }
}
