/** Policy files as the engine wants them, or every problem with its line and column. */
import { readFile } from "node:fs/promises";
import { type LoadedPolicy, loadPolicy } from "../../adapters/policy/load.ts";
import { formatProblem, type PolicyProblem } from "../../adapters/policy/problem.ts";
import type { PolicyFile } from "../../adapters/policy/read-yaml.ts";
import type { Capabilities } from "../../core/capabilities.ts";
import { compilePolicy } from "../../core/policy/compile-policy.ts";
import type { CompiledPolicy } from "../../core/policy/compiled.ts";
import type { PolicyDocument } from "../../core/policy/document.ts";
import { capabilities } from "../../gate/capabilities.ts";
import { usageError } from "../output/cli-error.ts";
import { fileError } from "../output/file-error.ts";

export interface OpenedPolicy {
  readonly loaded: LoadedPolicy;
  readonly compiled: CompiledPolicy;
}

/** Reads, merges and compiles. @throws CliError: unreadable file, or a policy with problems. */
export async function openPolicy(paths: readonly string[]): Promise<OpenedPolicy> {
  const files = await Promise.all(paths.map(readPolicyFile));
  const loaded = loadPolicy(files);
  if (!loaded.ok) throw wrongPolicy(loaded.problems);
  return { loaded, compiled: compileLoaded(loaded, loaded.document, capabilities) };
}

export async function readPolicyFile(path: string): Promise<PolicyFile> {
  try {
    return { name: path, text: await readFile(path, "utf8") };
  } catch (error) {
    throw fileError("read", path, error);
  }
}

/** @throws CliError: what only shows when the policy is compiled, at its line. */
export function compileLoaded(
  loaded: LoadedPolicy,
  document: PolicyDocument,
  using: Capabilities,
): CompiledPolicy {
  const result = compilePolicy(document, using, { revision: loaded.digest, keyId: "none" });
  if (result.ok) return result.policy;
  throw wrongPolicy(
    result.problems.map(({ path, message }) => {
      const at = loaded.source.locate(path);
      const { file, line, column } = at ?? { file: "policy", line: 0, column: 0 };
      return { file, line, column, path, message, mend: "correct it there" };
    }),
  );
}

function wrongPolicy(problems: readonly PolicyProblem[]): Error {
  return usageError(problems.map(formatProblem));
}
