/** Opens policy files, or reports every problem with its line and column. */
import { loadPolicy } from "../adapters/policy/load.ts";
import type { PolicyFile } from "../adapters/policy/read-yaml.ts";
import { formatProblem } from "../core/policy/problem.ts";
import { usageError } from "../process/exit-error.ts";
import { readTextFile } from "../process/read-text.ts";
import { capabilities } from "./capabilities.ts";
import { compileGatePolicy, type GatePolicy } from "./gate-policy.ts";

/**
 * Reads, merges and compiles policy files. @throws ExitError: a file cannot be read, or the policy
 * has problems.
 */
export async function openPolicy(paths: readonly string[]): Promise<GatePolicy> {
  const result = compileGatePolicy(
    loadPolicy(await Promise.all(paths.map(readPolicyFile))),
    capabilities,
  );
  if (!result.ok) throw usageError(result.problems.map(formatProblem));
  return result.policy;
}

export async function readPolicyFile(path: string): Promise<PolicyFile> {
  return { name: path, text: await readTextFile(path) };
}
