/**
 * The policy of a gate in this process: as it was opened, with the tools that the program declares,
 * and loaded again while calls are decided.
 *
 * POLICY-1 a policy is read, compiled and put in force in one synchronous step, so every call is
 *    decided by the whole of one policy.
 * POLICY-2 a policy with any problem changes nothing: the one before stays in force.
 * POLICY-3 tools that the program has declared stay declared under every later policy.
 */
import type { SecretStore } from "../adapters/config/secret-file.ts";
import { asCallgateError, CallgateError } from "../client/api/callgate-error.ts";
import type { PolicyListener, PolicyReload } from "../client/api/gate-types.ts";
import type { Capabilities } from "../core/capabilities.ts";
import { policyPath } from "../core/policy/path.ts";
import { OBJECT_NAME, type PolicyProblem } from "../core/policy/problem.ts";
import {
  compileGatePolicy,
  declareTools,
  type GatePolicy,
  misspelledTool,
  withSecret,
} from "../gate/gate-policy.ts";
import type { WatchedFiles } from "../process/watched-files.ts";
import type { Logger } from "../runtime/ports.ts";
import { type PolicyInput, policyError, readPolicy } from "./read-policy.ts";

/** @throws CallgateError with every problem of the policy. */
export function openPolicy(input: PolicyInput, capabilities: Capabilities): GatePolicy {
  const result = compileGatePolicy(readPolicy(input), capabilities);
  if (!result.ok) throw policyError(result.problems);
  return result.policy;
}

export type EmbeddedPolicyParts = {
  readonly input: PolicyInput;
  readonly capabilities: Capabilities;
  readonly secrets: Pick<SecretStore, "currentKeyId" | "byKeyId">;
  readonly logger: Logger;
  readonly onPolicy: PolicyListener | undefined;
  /** Makes the gate decide by this policy from the next call on. */
  readonly decideBy: (policy: GatePolicy) => void;
};

export class EmbeddedPolicy {
  readonly #parts: EmbeddedPolicyParts;
  readonly #declared = new Set<string>();
  #current: GatePolicy;
  #watched: WatchedFiles | undefined;

  constructor(parts: EmbeddedPolicyParts, opened: GatePolicy) {
    this.#parts = parts;
    this.#current = opened;
  }

  get current(): GatePolicy {
    return this.#current;
  }

  /**
   * Declares tools that the policy does not list. @throws CallgateError `invalid_input` for a name
   * that the policy spells in another way.
   */
  declare(names: readonly string[]): void {
    assertSpelled(this.#current, names);
    for (const name of names) this.#declared.add(name);
    this.#use(declareTools(this.#current, names, this.#parts.capabilities));
  }

  /** POLICY-1, POLICY-2. @throws CallgateError with the problems of the new policy. */
  reload(): PolicyReload {
    try {
      return this.#put(this.#read());
    } catch (error) {
      throw this.#refuse(asCallgateError(error));
    }
  }

  /** @param watched the files, opened before the policy was read. */
  watch(watched: WatchedFiles): void {
    this.#watched = watched;
    watched.watch(() => this.#reloadChanged(watched), { hearsHangUp: false });
  }

  /** Resolves when no policy is being loaded any more. */
  async close(): Promise<void> {
    await this.#watched?.close();
  }

  async #reloadChanged(watched: WatchedFiles): Promise<void> {
    try {
      const opened = this.#read();
      // The files may have been written to while they were read.
      if (await watched.areUnchanged()) this.#put(opened);
    } catch (error) {
      const { message } = this.#refuse(asCallgateError(error));
      if (this.#parts.onPolicy === undefined) process.emitWarning(message, "CallgatePolicy");
    }
  }

  #read(): GatePolicy {
    return openPolicy(this.#parts.input, this.#parts.capabilities);
  }

  /** @throws CallgateError for a tool of the program that the policy spells in another way. */
  #put(opened: GatePolicy): PolicyReload {
    const { capabilities, secrets, logger } = this.#parts;
    const names = [...this.#declared];
    const other = misspelledTool(opened, names);
    if (other !== undefined) throw policyError([misspelledIn(opened, other)]);
    const sealed = withSecret(opened, secrets.currentKeyId, secrets.byKeyId);
    // POLICY-3
    const next = declareTools(sealed, names, capabilities);
    const before = this.#current.compiled.revision;
    const { revision } = next.compiled;
    if (revision === before) return { outcome: "unchanged", revision, before };
    this.#use(next);
    logger.info("decides by another policy", { revision, before });
    const news = { outcome: "loaded", revision, before } as const;
    this.#tell(news);
    return news;
  }

  #use(policy: GatePolicy): void {
    if (policy === this.#current) return;
    this.#current = policy;
    this.#parts.decideBy(policy);
  }

  #refuse(error: CallgateError): CallgateError {
    const { revision } = this.#current.compiled;
    const { message: problem } = error;
    this.#parts.logger.error("the new policy was not accepted", { problem });
    this.#parts.logger.warn("goes on with the previous policy", { revision });
    this.#tell({ outcome: "refused", revision, error });
    return error;
  }

  #tell(news: Parameters<PolicyListener>[0]): void {
    try {
      this.#parts.onPolicy?.(news);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error), "CallgateListener");
    }
  }
}

/** @throws CallgateError `invalid_input` for a name that the policy spells in another way. */
export function assertSpelled(policy: GatePolicy, names: readonly string[]): void {
  const other = misspelledTool(policy, names);
  if (other === undefined) return;
  const { name, declared } = other;
  throw new CallgateError(
    "invalid_input",
    `the tool \`${name}\` cannot be guarded: the policy declares it as \`${declared}\`; use one spelling in both`,
  );
}

/** A tool of the program, and the name that the policy has for it. */
type Misspelled = { readonly name: string; readonly declared: string };

function misspelledIn({ loaded }: GatePolicy, { name, declared }: Misspelled): PolicyProblem {
  const path = policyPath(["tool_schemas", declared]);
  const at = loaded.source.locate(path) ?? { file: OBJECT_NAME, line: 0, column: 0 };
  const { file, line, column } = at;
  const message = `the program guards this tool as \`${name}\``;
  return { file, line, column, path, message, remedy: "use one spelling in both" };
}
