/**
 * The policy of a running gate: loaded at start, and again when its files change or the process
 * gets SIGHUP. A policy with problems never replaces one without.
 */

import type { Config } from "../adapters/config/config-schema.ts";
import type { SecretStore } from "../adapters/config/secret-file.ts";
import type { ProcessMetrics } from "../adapters/metrics/process-metrics.ts";
import type { CompiledPolicy } from "../core/policy/compiled.ts";
import { ExitError, usageError } from "../process/exit-error.ts";
import { type ReloadReason, WatchedFiles } from "../process/watched-files.ts";
import type { Logger } from "../runtime/ports.ts";
import { type GatePolicy, openPolicy, sealedWith, withSecret } from "./gate-policy.ts";

export type WatchedPolicyParts = {
  readonly config: Config["policy"];
  readonly secrets: Pick<SecretStore, "currentKeyId" | "byKeyId">;
  readonly logger: Logger;
  readonly metrics: ProcessMetrics;
};

/**
 * Switches to the policy. Returns the problems that prevent it; empty: the gate decides by it from
 * now on.
 */
export type TakeOver = (policy: CompiledPolicy) => Promise<readonly string[]>;

const OUTCOMES = ["loaded", "unchanged", "refused"] as const;

export class WatchedPolicy {
  readonly #parts: WatchedPolicyParts;
  #current: CompiledPolicy;
  readonly #files: WatchedFiles;
  #takeOver: TakeOver = async () => [];

  private constructor(parts: WatchedPolicyParts, current: CompiledPolicy, files: WatchedFiles) {
    this.#parts = parts;
    this.#current = current;
    this.#files = files;
    // A counter that appears with its first event would show no increase.
    for (const outcome of OUTCOMES) this.#countLoad(outcome, 0);
  }

  /** @throws ExitError that lists every problem of the policy. */
  static async open(parts: WatchedPolicyParts): Promise<WatchedPolicy> {
    const files = await WatchedFiles.open(parts.config.files);
    const policy = await openWith(parts).catch((error: unknown) => {
      // A policy that cannot be read is as wrong as one with problems: the configuration must
      // change.
      throw error instanceof ExitError ? usageError(error.lines) : error;
    });
    return new WatchedPolicy(parts, policy.compiled, files);
  }

  get current(): CompiledPolicy {
    return this.#current;
  }

  watch(takeOver: TakeOver): void {
    this.#takeOver = takeOver;
    const looks = this.#parts.config.watch;
    this.#files.watch((reason) => this.#load(reason), { looks });
  }

  /** Decides on by the same policy, with the secret that is current now. Never rejects. */
  async renewSecret(): Promise<void> {
    const { secrets, logger } = this.#parts;
    const next = sealedWith(this.#current, secrets.currentKeyId, secrets.byKeyId);
    const problems = await this.#takeOver(next).catch((error: unknown) => [String(error)]);
    if (problems.length > 0) return this.#refuse("secret", problems);
    this.#current = next;
    logger.info("makes keys with another secret", { keyId: next.keyId });
  }

  close(): Promise<void> {
    return this.#files.close();
  }

  async #load(why: ReloadReason): Promise<void> {
    const { logger } = this.#parts;
    try {
      const { compiled } = await openWith(this.#parts);
      if (why === "changed" && !(await this.#files.areUnchanged())) return;
      if (compiled.revision === this.#current.revision) return this.#countLoad("unchanged");
      const problems = await this.#takeOver(compiled);
      if (problems.length > 0) return this.#refuse(why, problems);
      const before = this.#current.revision;
      this.#current = compiled;
      logger.info("decides by another policy", { why, revision: compiled.revision, before });
      this.#countLoad("loaded");
      // The secret may have changed while the files were read.
      if (compiled.keyId !== this.#parts.secrets.currentKeyId) await this.renewSecret();
    } catch (error) {
      this.#refuse(why, error instanceof ExitError ? error.lines : [String(error)]);
    }
  }

  #refuse(why: ReloadReason | "secret", problems: readonly string[]): void {
    const { logger } = this.#parts;
    for (const problem of problems)
      logger.error("the new policy was not accepted", { why, problem });
    logger.warn("goes on with the previous policy", { revision: this.#current.revision });
    this.#countLoad("refused");
  }

  #countLoad(outcome: (typeof OUTCOMES)[number], times = 1): void {
    const help = "times that the policy was loaded again, by outcome";
    this.#parts.metrics.add("policy_loads", help, { outcome }, times);
  }
}

async function openWith({ config, secrets }: WatchedPolicyParts): Promise<GatePolicy> {
  return withSecret(await openPolicy(config.files), secrets.currentKeyId, secrets.byKeyId);
}
