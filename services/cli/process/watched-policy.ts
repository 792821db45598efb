/**
 * The policy of a running gate: loaded at start, and again when its files change or the process gets
 * SIGHUP. One with problems never takes the place of one without.
 */

import { stat } from "node:fs/promises";
import type { Config } from "../../adapters/config/config-schema.ts";
import type { SecretStore } from "../../adapters/config/known-secrets.ts";
import type { ProcessMetrics } from "../../adapters/metrics/process-metrics.ts";
import type { CompiledPolicy } from "../../core/policy/compiled.ts";
import { type GatePolicy, withSecret } from "../../gate/gate-policy.ts";
import type { Logger } from "../../runtime/ports.ts";
import { CliError, usageError } from "../output/cli-error.ts";
import { openPolicy } from "../policy/open-policy.ts";

const LOOK_EVERY_MS = 1_000;

export type WatchedPolicyParts = {
  readonly config: Config["policy"];
  readonly secrets: Pick<SecretStore, "currentKeyId" | "byKeyId">;
  readonly logger: Logger;
  readonly metrics: ProcessMetrics;
};

/** Decides by the policy from now on, or says what keeps it from that. */
export type TakeOver = (policy: CompiledPolicy) => Promise<readonly string[]>;

const OUTCOMES = ["loaded", "unchanged", "refused"] as const;

export class WatchedPolicy {
  readonly #parts: WatchedPolicyParts;
  #current: CompiledPolicy;
  #stamp: string;
  #takeOver: TakeOver = async () => [];
  #timer: NodeJS.Timeout | undefined;
  #loading: Promise<void> = Promise.resolve();
  readonly #hangUp = (): void => this.#reload("SIGHUP");

  private constructor(parts: WatchedPolicyParts, current: CompiledPolicy, stamp: string) {
    this.#parts = parts;
    this.#current = current;
    this.#stamp = stamp;
    // What appears with its first event has no increase.
    for (const outcome of OUTCOMES) this.#told(outcome, 0);
  }

  /** @throws CliError that lists every problem of the policy. */
  static async open(parts: WatchedPolicyParts): Promise<WatchedPolicy> {
    const stamp = await stampOf(parts.config.files);
    const policy = await openWith(parts).catch((error: unknown) => {
      // One that cannot be read is as wrong as one with problems: what is configured must be changed.
      throw error instanceof CliError ? usageError(error.lines) : error;
    });
    return new WatchedPolicy(parts, policy.compiled, stamp);
  }

  get current(): CompiledPolicy {
    return this.#current;
  }

  watch(takeOver: TakeOver): void {
    this.#takeOver = takeOver;
    process.on("SIGHUP", this.#hangUp);
    if (!this.#parts.config.watch) return;
    this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    process.off("SIGHUP", this.#hangUp);
    await this.#loading;
  }

  async #look(): Promise<void> {
    const stamp = await stampOf(this.#parts.config.files);
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    this.#reload("changed");
  }

  #reload(why: string): void {
    this.#loading = this.#loading.then(() => this.#load(why));
  }

  async #load(why: string): Promise<void> {
    const { logger } = this.#parts;
    try {
      const { compiled } = await openWith(this.#parts);
      if (compiled.revision === this.#current.revision) return this.#told("unchanged");
      const problems = await this.#takeOver(compiled);
      if (problems.length > 0) return this.#refused(why, problems);
      const before = this.#current.revision;
      this.#current = compiled;
      logger.info("decides by another policy", { why, revision: compiled.revision, before });
      this.#told("loaded");
    } catch (error) {
      this.#refused(why, error instanceof CliError ? error.lines : [String(error)]);
    }
  }

  #refused(why: string, problems: readonly string[]): void {
    const { logger } = this.#parts;
    for (const problem of problems) logger.error("the policy was not taken over", { why, problem });
    logger.warn("goes on by the policy before", { revision: this.#current.revision });
    this.#told("refused");
  }

  #told(outcome: (typeof OUTCOMES)[number], times = 1): void {
    const help = "times that the policy was loaded again, by outcome";
    this.#parts.metrics.add("policy_loads", help, { outcome }, times);
  }
}

async function openWith({ config, secrets }: WatchedPolicyParts): Promise<GatePolicy> {
  return withSecret(await openPolicy(config.files), secrets.currentKeyId, secrets.byKeyId);
}

/** Changes when a file does: also where a link to it is set to another. */
async function stampOf(files: readonly string[]): Promise<string> {
  const stamps = await Promise.all(
    files.map(async (file) => {
      const { ino, size, mtimeMs } = await stat(file).catch(() => ({
        ino: 0,
        size: 0,
        mtimeMs: 0,
      }));
      return `${ino}/${size}/${mtimeMs}`;
    }),
  );
  return stamps.join(" ");
}
