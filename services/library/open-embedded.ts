/** Gate, log and codec in one process: the basis of the library, the commands and the benches. */
import type { SecretStore } from "../adapters/config/secret-file.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { defaultStateMemory, withDefaultLimits } from "../adapters/system/state-memory.ts";
import { asCallgateError, CallgateError } from "../client/api/callgate-error.ts";
import type { PolicyListener, PolicyReload, SecretOption } from "../client/api/gate-types.ts";
import { runKeepingAlive } from "../client/keep-alive.ts";
import type { Capabilities } from "../core/capabilities.ts";
import type { CallAllowed } from "../core/events.ts";
import { type CustomNormalizers, capabilitiesWith } from "../gate/capabilities.ts";
import { GateHost } from "../gate/gate-host.ts";
import { type GatePolicy, withSecret } from "../gate/gate-policy.ts";
import {
  type EmbeddedLog,
  openDiskStorage,
  openMemoryStorage,
  type Storage,
} from "../process/directory/open-storage.ts";
import { WatchedFiles } from "../process/watched-files.ts";
import type { ConversationLimits } from "../runtime/conversation-bounds.ts";
import type { HeadStore } from "../runtime/journal-head.ts";
import { FixedMembership } from "../runtime/membership.ts";
import type { Logger, Metrics, ProposalAuthority } from "../runtime/ports.ts";
import { noMetrics, quietLogger } from "../runtime/quiet-logger.ts";
import type { TaskStatus } from "../runtime/task-context.ts";
import { type AvroCodec, createAvroCodec } from "../wire/codec.ts";
import { keyOfAllowed, openedArguments } from "../wire/encode-outputs.ts";
import { EmbeddedPolicy, openPolicy } from "./embedded-policy.ts";
import { openSecret } from "./open-secret.ts";
import type { PolicyInput } from "./read-policy.ts";
import { type OtherTerms, termsOf } from "./shared-terms.ts";

export const DEFAULT_DATA_DIR = ".callgate";

const DAY_MS = 86_400_000;
const KEEP_MS = 30 * DAY_MS;
const RETENTION_EVERY_MS = 60_000;
/** The embedded log has no leader that might lag, and an idle program may rest longer. */
const TUNING = { offsetsGraceMs: 0, waitMsMax: 30_000 } as const;

export type EmbeddedOptions = {
  readonly policy: PolicyInput;
  /** Loads policy files again when they change. */
  readonly watchPolicy?: boolean | undefined;
  readonly onPolicy?: PolicyListener | undefined;
  readonly normalizers?: CustomNormalizers | undefined;
  /** Default `.callgate`; false: nothing is stored on disk. */
  readonly dataDir?: string | false | undefined;
  readonly secret?: SecretOption | undefined;
  /** Bytes of memory for conversations; absent: a quarter of what the process may have. */
  readonly memoryBytes?: number | undefined;
  /** For new conversations; absent in it: `conversations` as many as memory allows, the others unbounded. */
  readonly limits?: ConversationLimits | undefined;
  /** Absent: everybody who proposes is trusted. */
  readonly authority?: ProposalAuthority | undefined;
  readonly logger?: Logger | undefined;
  readonly metrics?: Metrics | undefined;
  /** Absent: no other process proposes calls, and the log is opened for this gate alone. */
  readonly shared?: SharedUse | undefined;
};

/** What a gate that other processes use begins with. */
export type SharedUse = {
  /** Takes the right to decide, on a log that is open already. */
  readonly lead: () => Promise<Storage>;
  /** Tools that the program has declared. */
  readonly tools: readonly string[];
  readonly terms: OtherTerms;
};

export interface Embedded {
  readonly log: EmbeddedLog;
  readonly codec: AvroCodec;
  readonly gate: GateHost;
  readonly dataDir: string | false;
  /** The policy in force. */
  readonly policy: GatePolicy;
  /** Loads the policy again. @throws CallgateError, with the policy before still in force. */
  reloadPolicy(): PolicyReload;
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
  const capabilities = capabilitiesOf(options.normalizers);
  const watched = await watchedFiles(options);
  // The policy comes first: an invalid one must not leave a directory behind.
  const opened = openPolicy(options.policy, capabilities);
  const storage = await openStorage(dataDir, options.shared);
  try {
    const secrets = openSecret(options.secret, dataDir, storage.isNew);
    const heads = await storage.begin(options.secret === undefined);
    const policy = withSecret(opened, secrets.currentKeyId, secrets.byKeyId);
    const parts = { capabilities, watched, dataDir, secrets, policy };
    return await started(compose(options, parts, { ...storage, heads }));
  } catch (error) {
    await storage.close();
    throw asCallgateError(error);
  }
}

/** Opened before the policy is read, so that no later change is missed. */
async function watchedFiles(options: EmbeddedOptions): Promise<WatchedFiles | null> {
  const { policy, watchPolicy = false } = options;
  return watchPolicy && "files" in policy ? await WatchedFiles.open(policy.files) : null;
}

export function capabilitiesOf(normalizers: CustomNormalizers | undefined): Capabilities {
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

async function openStorage(
  dataDir: string | false,
  shared: SharedUse | undefined,
): Promise<Storage> {
  try {
    if (shared !== undefined) return await shared.lead();
    return dataDir === false
      ? openMemoryStorage(systemClock)
      : await openDiskStorage(dataDir, systemClock);
  } catch (error) {
    throw asCallgateError(error);
  }
}

type ReadParts = {
  readonly capabilities: Capabilities;
  readonly watched: WatchedFiles | null;
  readonly dataDir: string | false;
  readonly secrets: SecretStore;
  readonly policy: GatePolicy;
};

function compose(
  options: EmbeddedOptions,
  { capabilities, watched, dataDir, secrets, policy: opened }: ReadParts,
  storage: Storage & { readonly heads: HeadStore | null },
): Embedded {
  const { byKeyId } = secrets;
  const codec = createAvroCodec({ secrets: byKeyId });
  const { log, ownership, states, heads } = storage;
  const { memoryBytes = defaultStateMemory() } = options;
  const logger = options.logger ?? quietLogger;
  const gate = new GateHost({
    ...{ log, ownership, heads, secrets, codec, logger },
    checkpoints: null,
    states: states === null ? null : { store: states, memoryBytes },
    limits: withDefaultLimits(options.limits ?? {}, states === null ? null : memoryBytes),
    authority: options.authority,
    clock: systemClock,
    metrics: options.metrics ?? noMetrics,
    policy: opened.compiled,
    keepMs: KEEP_MS,
    membership: new FixedMembership(log.partitions),
    tuning: TUNING,
  });
  const { policy: input, onPolicy, shared } = options;
  const publish = publisherOf(storage, shared, logger);
  const policy = new EmbeddedPolicy(
    {
      ...{ input, capabilities, secrets, logger, onPolicy },
      decideBy: (next) => {
        gate.setPolicy(next.compiled);
        publish(next);
      },
    },
    opened,
  );
  publish(opened);
  // What waits in the log is decided as soon as the gate starts.
  policy.declare(shared?.tools ?? []);
  if (watched !== null) policy.watch(watched);
  const retention = setInterval(() => trim(log, gate.keepMs, logger), RETENTION_EVERY_MS).unref();
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    clearInterval(retention);
    await policy.close();
    await gate.stop();
    await storage.close();
  };
  return {
    ...{ log, codec, gate, dataDir },
    get policy() {
      return policy.current;
    },
    reloadPolicy: () => policy.reload(),
    knowTools: (names) => policy.declare(names),
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

/** Tells other processes by what this gate decides, whenever that changes. */
function publisherOf(
  storage: Storage,
  shared: SharedUse | undefined,
  logger: Logger,
): (policy: GatePolicy) => void {
  let published: string | undefined;
  return ({ loaded }) => {
    const terms = shared === undefined ? "" : termsOf(loaded.digest, shared.terms);
    if (terms === published) return;
    published = terms;
    try {
      storage.publish({ isShared: shared !== undefined, terms });
    } catch (error) {
      // Whoever opens the directory next is refused, or waits until this gate is gone.
      const message = error instanceof Error ? error.message : String(error);
      logger.warn("other processes cannot be told of this gate", { message });
    }
  };
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
