/** Gate, log and codec in one process: the basis of the library, the commands and the benches. */
import { join } from "node:path";
import {
  makeSecret,
  openSecretFile,
  registerSecrets,
  SECRET_FILE,
  type SecretResult,
  type SecretStore,
  secretsFrom,
} from "../adapters/config/secret-file.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { asCallgateError, CallgateError } from "../client/api/callgate-error.ts";
import type { SecretOption } from "../client/api/gate-types.ts";
import { runKeepingAlive } from "../client/keep-alive.ts";
import type { Capabilities } from "../core/capabilities.ts";
import type { CallAllowed } from "../core/events.ts";
import { type CustomNormalizers, capabilitiesWith } from "../gate/capabilities.ts";
import { GateHost } from "../gate/gate-host.ts";
import {
  compileGatePolicy,
  declareTools,
  type GatePolicy,
  misspelledTool,
  withSecret,
} from "../gate/gate-policy.ts";
import {
  type EmbeddedLog,
  openDiskStorage,
  openMemoryStorage,
  type Storage,
} from "../process/directory/open-storage.ts";
import type { HeadStore } from "../runtime/journal-head.ts";
import { FixedMembership } from "../runtime/membership.ts";
import type { Logger, Metrics, ProposalAuthority } from "../runtime/ports.ts";
import { noMetrics, quietLogger } from "../runtime/quiet-logger.ts";
import type { TaskStatus } from "../runtime/task-context.ts";
import { type AvroCodec, createAvroCodec } from "../wire/codec.ts";
import { keyOfAllowed, openedArguments } from "../wire/encode-outputs.ts";
import { type PolicyInput, policyError, readPolicy } from "./read-policy.ts";

export const DEFAULT_DATA_DIR = ".callgate";

const DAY_MS = 86_400_000;
const KEEP_MS = 30 * DAY_MS;
const RETENTION_EVERY_MS = 60_000;
/** The embedded log has no leader that might lag, and an idle program may rest longer. */
const TUNING = { offsetsGraceMs: 0, waitMsMax: 30_000 } as const;

export type EmbeddedOptions = {
  readonly policy: PolicyInput;
  readonly normalizers?: CustomNormalizers | undefined;
  /** Default `.callgate`; false: nothing is stored on disk. */
  readonly dataDir?: string | false | undefined;
  readonly secret?: SecretOption | undefined;
  /** Absent: everybody who proposes is trusted. */
  readonly authority?: ProposalAuthority | undefined;
  readonly logger?: Logger | undefined;
  readonly metrics?: Metrics | undefined;
};

export interface Embedded {
  readonly log: EmbeddedLog;
  readonly codec: AvroCodec;
  readonly gate: GateHost;
  readonly dataDir: string | false;
  /** The policy in force. */
  readonly policy: GatePolicy;
  /** Declares tools that the policy does not list; changes the revision if needed. */
  knowTools(names: readonly string[]): void;
  /** The key of an allowed call; undefined if it was decided under a secret that is not at hand. */
  keyOf(event: CallAllowed): string | undefined;
  /**
   * The arguments as they were sent; undefined if they are sealed under a secret that is not at
   * hand.
   */
  argumentsOf(event: CallAllowed): string | undefined;
  /** Finishes work in progress, writes a checkpoint, and releases the directory. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens the log, takes the gate role and restores; resolves once the gate decides.
 *
 * @throws CallgateError: an invalid policy, a directory in use or unusable, an unusable secret.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const dataDir = options.dataDir ?? DEFAULT_DATA_DIR;
  const loaded = readPolicy(options.policy);
  if (!loaded.ok) throw policyError(loaded.problems);
  // The policy comes first: an invalid one must not leave a directory behind.
  const result = compileGatePolicy(loaded, capabilitiesOf(options.normalizers));
  if (!result.ok) throw policyError(result.problems);
  const storage = await openStorage(dataDir);
  try {
    const secrets = openSecret(options.secret, dataDir, storage.isNew);
    const heads = await storage.begin(options.secret === undefined);
    const policy = withSecret(result.policy, secrets.currentKeyId, secrets.byKeyId);
    return await started(compose(options, dataDir, { ...storage, heads }, secrets, policy));
  } catch (error) {
    await storage.close();
    throw asCallgateError(error);
  }
}

function capabilitiesOf(normalizers: CustomNormalizers | undefined): Capabilities {
  try {
    return capabilitiesWith(normalizers);
  } catch (error) {
    throw new CallgateError("invalid_input", (error as Error).message);
  }
}

async function started(embedded: Embedded): Promise<Embedded> {
  try {
    await runKeepingAlive(() => running(embedded.gate));
    return embedded;
  } catch (error) {
    await embedded.close();
    throw error;
  }
}

async function openStorage(dataDir: string | false): Promise<Storage> {
  try {
    return dataDir === false
      ? openMemoryStorage(systemClock)
      : await openDiskStorage(dataDir, systemClock);
  } catch (error) {
    throw asCallgateError(error);
  }
}

/** @param isNew nothing was decided there yet, so a secret may be generated. */
function openSecret(
  secret: SecretOption | undefined,
  dataDir: string | false,
  isNew: boolean,
): SecretStore {
  const result: SecretResult =
    secret !== undefined
      ? secretsFrom(secret)
      : dataDir === false
        ? { ok: true, secret: makeSecret(), earlier: [] }
        : openSecretFile(dataDir, isNew);
  if (result.ok)
    return registerSecrets(
      result.secret,
      result.earlier,
      secretRemedy(secret !== undefined, dataDir),
    );
  const { message, cause } = result.problem;
  throw new CallgateError("secret_unreadable", message, { cause });
}

function secretRemedy(isSecretSet: boolean, dataDir: string | false): string {
  if (dataDir === false) return "Open the gate again";
  const where = isSecretSet
    ? "Give the option `secret` that the directory was used with (none, where it has a file `secret` of its own)"
    : `Restore \`${join(dataDir, SECRET_FILE)}\` from a backup, or give the option \`secret\` that the directory was used with`;
  return `${where}. If it is lost for good, see what that means with \`callgate recover --data-dir ${dataDir}\` and accept it with \`--accept-loss\``;
}

function compose(
  options: EmbeddedOptions,
  dataDir: string | false,
  storage: Storage & { readonly heads: HeadStore | null },
  secrets: SecretStore,
  opened: GatePolicy,
): Embedded {
  let policy = opened;
  const { byKeyId } = secrets;
  const codec = createAvroCodec({ secrets: byKeyId });
  const { log, ownership, checkpoints, heads } = storage;
  const logger = options.logger ?? quietLogger;
  const gate = new GateHost({
    ...{ log, ownership, checkpoints, heads, secrets, codec, logger },
    authority: options.authority,
    clock: systemClock,
    metrics: options.metrics ?? noMetrics,
    policy: policy.compiled,
    keepMs: KEEP_MS,
    membership: new FixedMembership(log.partitions),
    tuning: TUNING,
  });
  const retention = setInterval(() => trim(log, gate.keepMs, logger), RETENTION_EVERY_MS).unref();
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    clearInterval(retention);
    await gate.stop();
    await storage.close();
  };
  return {
    ...{ log, codec, gate, dataDir },
    get policy() {
      return policy;
    },
    knowTools: (names) => {
      const other = misspelledTool(policy, names);
      if (other !== undefined) throw misspelled(other);
      const extended = declareTools(policy, names, capabilitiesOf(options.normalizers));
      if (extended === policy) return;
      policy = extended;
      gate.setPolicy(policy.compiled);
    },
    keyOf: (event) => {
      return byKeyId.has(event.keyId) ? keyOfAllowed(byKeyId, event) : undefined;
    },
    argumentsOf: (event) => openedArguments(byKeyId, event) ?? undefined,
    close: () => {
      // Otherwise a program with nothing else to do would end before the last checkpoint is
      // written.
      closing ??= runKeepingAlive(close);
      return closing;
    },
  };
}

function misspelled(other: { readonly name: string; readonly declared: string }): CallgateError {
  const { name, declared } = other;
  return new CallgateError(
    "invalid_input",
    `the tool \`${name}\` cannot be guarded: the policy declares it as \`${declared}\`; use one spelling in both`,
  );
}

function trim(log: EmbeddedLog, keepMs: number, logger: Logger): void {
  log.applyRetention({ keepMs }).catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    logger.warn("old records could not be deleted", { message });
  });
}

/** Starts the gate and waits until it decides. @throws the error that prevents it. */
function running(gate: GateHost): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      const status = gate.worstStatus();
      // An error that would be retried later is thrown now: whoever opens the gate can react to it.
      const failed = status.state === "closed" || status.error !== null;
      if (status.state !== "running" && !failed) return;
      stop();
      if (status.state === "running") resolve();
      else reject(notRunning(status));
    };
    const stop = gate.onStatus(settle);
    gate.start().catch(reject);
    settle();
  });
}

function notRunning({ error }: TaskStatus): unknown {
  return error ?? new CallgateError("closed", "the gate was closed before it was restored");
}
