/** Compiles a loaded policy, with every problem at its line. */
import { makeSecret } from "../adapters/config/secret-file.ts";
import { type LoadedPolicy, type LoadResult, loadPolicy } from "../adapters/policy/load.ts";
import type { PolicyFile } from "../adapters/policy/read-yaml.ts";
import { canonicalText } from "../core/canonical/canonical-text.ts";
import type { JsonValue } from "../core/canonical/json-value.ts";
import type { Capabilities } from "../core/capabilities.ts";
import { sha256Hex } from "../core/hash.ts";
import { compilePolicy } from "../core/policy/compile-policy.ts";
import type { CompiledPolicy } from "../core/policy/compiled.ts";
import type { PolicyDocument } from "../core/policy/document.ts";
import { formatProblem, OBJECT_NAME, type PolicyProblem } from "../core/policy/problem.ts";
import { createSealing, type Sealing } from "../core/seal/sealing.ts";
import { likenessOf } from "../core/tool-name.ts";
import { usageError } from "../process/exit-error.ts";
import { readTextFile } from "../process/text-files.ts";
import { capabilities } from "./capabilities.ts";

export type GatePolicy = {
  readonly loaded: LoadedPolicy;
  /** The loaded document, with the tools that were declared since. */
  readonly document: PolicyDocument;
  readonly compiled: CompiledPolicy;
};

export type GatePolicyResult =
  | { readonly ok: true; readonly policy: GatePolicy }
  | { readonly ok: false; readonly problems: readonly PolicyProblem[] };

const NO_KEY = "none";

/**
 * Compiles a policy without a secret; `withSecret` adds one. Until then a random secret of this
 * process makes the digests of sensitive values, so that nobody can test guesses against digests
 * that a tool prints.
 */
export function compileGatePolicy(
  loaded: LoadResult,
  capabilities: Capabilities,
): GatePolicyResult {
  if (!loaded.ok) return loaded;
  const { document, digest: revision } = loaded;
  const result = compilePolicy(document, capabilities, {
    revision,
    keyId: NO_KEY,
    sealing: sealingOfProcess(),
  });
  if (result.ok) return { ok: true, policy: { loaded, document, compiled: result.policy } };
  const problems = result.problems.map(({ path, message }): PolicyProblem => {
    const at = loaded.source.locate(path);
    const { file, line, column } = at ?? { file: OBJECT_NAME, line: 0, column: 0 };
    return { file, line, column, path, message, remedy: "correct it there" };
  });
  return { ok: false, problems };
}

let processSealing: Sealing | undefined;

function sealingOfProcess(): Sealing {
  processSealing ??= createSealing(NO_KEY, new Map([[NO_KEY, makeSecret().bytes]]));
  return processSealing;
}

/**
 * `keyId`: id of the secret for new idempotency keys and digests of sensitive values. `secrets`:
 * that one and the earlier ones, which conversations may still need.
 */
export function withSecret(
  policy: GatePolicy,
  keyId: string,
  secrets: ReadonlyMap<string, Uint8Array>,
): GatePolicy {
  return { ...policy, compiled: sealedWith(policy.compiled, keyId, secrets) };
}

/** The same policy with another current secret; see `withSecret`. */
export function sealedWith(
  policy: CompiledPolicy,
  keyId: string,
  secrets: ReadonlyMap<string, Uint8Array>,
): CompiledPolicy {
  return { ...policy, keyId, sealing: createSealing(keyId, secrets) };
}

/** The policy for a journal whose sensitive values are digests already. */
export function overRecorded(policy: CompiledPolicy): CompiledPolicy {
  return { ...policy, sealing: { ...policy.sealing, recorded: true } };
}

/**
 * The policy with the tools that the program registers declared. Those that no entry and no tier
 * names get an empty entry in the document, so that the revision changes and the document of that
 * revision decides the same anywhere. Returns the same policy where all were declared.
 */
export function declareTools(
  policy: GatePolicy,
  names: readonly string[],
  capabilities: Capabilities,
): GatePolicy {
  const { compiled, document, loaded } = policy;
  const unknown = names.filter((name) => !compiled.tool(name).isDeclared);
  if (unknown.length === 0) return policy;
  const entries = unknown.map((name) => [name, {}] as const);
  const extended: PolicyDocument = {
    ...document,
    tool_schemas: { ...document.tool_schemas, ...Object.fromEntries(entries) },
  };
  const { keyId, sealing } = compiled;
  const revision = revisionOf(extended);
  const result = compilePolicy(extended, capabilities, { revision, keyId, sealing });
  // An empty entry has nothing that could be wrong, and the rest compiled before.
  if (!result.ok)
    throw new Error(`a policy with declared tools did not compile: ${messages(result)}`);
  return { loaded, document: extended, compiled: result.policy };
}

/**
 * A declared name that differs from a program's tool name only in spelling; undefined: there is
 * none.
 */
export function misspelledTool(
  { loaded }: GatePolicy,
  names: readonly string[],
): { readonly name: string; readonly declared: string } | undefined {
  const declared = Object.keys(loaded.document.tool_schemas ?? {});
  const spelled = new Map(declared.map((name) => [likenessOf(name), name]));
  return names
    .filter((name) => !declared.includes(name))
    .flatMap((name) => {
      const like = spelled.get(likenessOf(name));
      return like === undefined ? [] : [{ name, declared: like }];
    })[0];
}

function messages(result: { readonly problems: readonly { readonly message: string }[] }): string {
  return result.problems.map(({ message }) => message).join("; ");
}

function revisionOf(document: PolicyDocument): string {
  return `sha256:${sha256Hex("callgate.policy/1", canonicalText(document as JsonValue))}`;
}

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
