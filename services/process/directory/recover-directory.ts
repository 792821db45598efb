/**
 * Finds what a data directory has lost, and lets a gate go on without it once a person has accepted
 * the loss.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  openSecretFile,
  registerSecrets,
  SECRET_FILE,
  type SecretResult,
  type SecretStore,
  type SecretsInOrder,
  secretFrom,
  secretsOfFile,
} from "../../adapters/config/secret-file.ts";
import { FileHeads } from "../../adapters/files/head-file.ts";
import { LOG_FILE } from "../../adapters/lmdb/environment.ts";
import { HEARTBEAT_FILE } from "../../adapters/lmdb/gate-role.ts";
import type { LmdbLog } from "../../adapters/lmdb/lmdb-log.ts";
import { systemClock } from "../../adapters/system/clock.ts";
import { CallgateError } from "../../client/api/callgate-error.ts";
import type { Acceptance } from "../../runtime/anchor.ts";
import { coreFold } from "../../runtime/core-engine.ts";
import { FatalError, PipelineError } from "../../runtime/errors.ts";
import { findJournalLosses } from "../../runtime/find-losses.ts";
import { journalAcceptance } from "../../runtime/journal-acceptance.ts";
import { noMetrics, quietLogger } from "../../runtime/quiet-logger.ts";
import { createAvroCodec } from "../../wire/codec.ts";
import {
  type DirectoryLook,
  directoryRemedy,
  findForeignParts,
  findMissingParts,
  hasLostSecret,
  isNewDirectory,
  lookAtDirectory,
  newHead,
} from "./data-directory.ts";
import { openDiskLogAsItIs, openStorageAsItIs } from "./open-storage.ts";

export type DirectoryLosses = {
  /** One sentence for each loss, without a full stop; empty: nothing is lost. */
  readonly losses: readonly string[];
  readonly lostKeyIds: readonly string[];
  /** Records that no gate can read past; `verify` reports them as well. */
  readonly unreadable: readonly string[];
  /** True where the log cannot be used: the gate starts again with an empty one. */
  readonly needsNewLog: boolean;
  /** True where the secret cannot be used: a new one is made. */
  readonly needsNewSecret: boolean;
};

export type LossAcceptance = { readonly by: string; readonly reason: string | null };

const HEARTBEAT_WATCH_MS = 2_500;
const HEARTBEAT_YOUNG_MS = 15_000;
/**
 * Longest life of a conversation and a hold, by default, and a day; the journal is retained for
 * longer.
 */
const SPAN_MS = 9 * 86_400_000;
const NOTHING = {
  losses: [],
  lostKeyIds: [],
  unreadable: [],
  needsNewLog: false,
  needsNewSecret: false,
} as const;

/**
 * Changes nothing.
 * @param suppliedSecret the secret, where it is not in the directory.
 */
export async function findDirectoryLosses(
  dataDir: string,
  suppliedSecret?: string | Uint8Array,
): Promise<DirectoryLosses> {
  const look = lookAtDirectory(dataDir);
  if (isNewDirectory(look) && look.log !== "present") return NOTHING;
  const secret =
    suppliedSecret === undefined ? readSecrets(dataDir) : validOf(secretFrom(suppliedSecret));
  const opened = look.log === "present" ? openAnyLog(look) : null;
  // The process that created the log was killed before the log had a name.
  if (isNewDirectory(look) && opened?.ok === false && opened.isNameless) return NOTHING;
  const missing = findMissingParts(look);
  if (opened === null || !opened.ok) {
    const isLost = secret === null && suppliedSecret === undefined && keepsSecret(look);
    const problems = opened === null ? [] : [opened.problem];
    const losses = [...missing, ...problems, ...(isLost ? [secretLoss(dataDir)] : [])];
    return { ...NOTHING, losses, needsNewLog: true, needsNewSecret: isLost };
  }
  try {
    const logLosses = await lossesOfLog(look, opened.log, secret);
    const needsNewSecret = secret === null && logLosses.lostKeyIds.length > 0;
    return { ...logLosses, losses: [...missing, ...logLosses.losses], needsNewSecret };
  } finally {
    await opened.log.close();
  }
}

async function lossesOfLog(
  look: DirectoryLook,
  log: LmdbLog,
  secret: SecretsInOrder | null,
): Promise<Omit<DirectoryLosses, "needsNewSecret">> {
  const foreign = await findForeignParts(look, log);
  const heads = foreign.length > 0 ? [] : (look.head?.partitions ?? []);
  const fingerprints = fingerprintsOf(look, secret);
  const sinceMs = systemClock.nowMs() - SPAN_MS;
  const codec = createAvroCodec({ secrets: new Map() });
  const losses: string[] = [...foreign];
  const lostKeyIds = new Set<string>();
  const unreadable: string[] = [];
  for (let partition = 0; partition < log.partitions; partition += 1) {
    const head = heads[partition] ?? null;
    const context = { log, codec, partition, head, fingerprints, sinceMs };
    const journalLosses = await findJournalLosses(context);
    losses.push(...journalLosses.losses);
    for (const keyId of journalLosses.lostKeyIds) lostKeyIds.add(keyId);
    if (journalLosses.unreadable !== null) unreadable.push(journalLosses.unreadable);
  }
  const needsNewLog = unreadable.length > 0;
  return { losses: [...new Set(losses)], lostKeyIds: [...lostKeyIds], unreadable, needsNewLog };
}

/** Null: the secret is stored elsewhere, and the caller did not pass it. */
function fingerprintsOf(
  look: DirectoryLook,
  secret: SecretsInOrder | null,
): ReadonlyMap<string, string> | null {
  if (secret !== null) return registerSecrets(secret.secret, secret.earlier, "").fingerprints;
  return keepsSecret(look) ? new Map() : null;
}

/** All losses, including what is unreadable. */
export function allLosses({ losses, unreadable }: DirectoryLosses): readonly string[] {
  return [...losses, ...unreadable];
}

/**
 * Goes on without what is lost: creates the missing parts, and journals what was accepted, and by
 * whom. Parts that cannot be used stay in the directory under another name.
 * @throws CallgateError `data_dir_in_use`, and for problems that no acceptance solves.
 */
export async function acceptDirectoryLosses(
  dataDir: string,
  directoryLosses: DirectoryLosses,
  acceptance: LossAcceptance,
  suppliedSecret?: string | Uint8Array,
): Promise<void> {
  if (suppliedSecret === undefined && !keepsSecret(lookAtDirectory(dataDir))) {
    throw new CallgateError(
      "secret_unreadable",
      `the secret of \`${dataDir}\` is not in it: pass that secret, or the one that is to replace it`,
    );
  }
  const suffix = `lost-${randomBytes(4).toString("hex")}`;
  if (directoryLosses.needsNewLog) {
    await assertNoHeartbeat(dataDir);
    for (const name of [LOG_FILE, `${LOG_FILE}-lock`]) setAside(join(dataDir, name), suffix);
  }
  const storage = openStorageAsItIs(dataDir, systemClock);
  try {
    if (directoryLosses.needsNewSecret) setAside(join(dataDir, SECRET_FILE), suffix);
    const secrets = secretsFor(dataDir, suppliedSecret);
    const { by, reason } = acceptance;
    const { lostKeyIds } = directoryLosses;
    const losses = allLosses(directoryLosses);
    const accepted: Acceptance = { by, reason, atMs: systemClock.nowMs(), losses, lostKeyIds };
    const heads = new FileHeads(
      dataDir,
      newHead(storage.log, suppliedSecret === undefined, accepted),
      directoryRemedy(dataDir),
    );
    // From here on the directory can be opened: whatever happens next, the next gate journals the
    // acceptance.
    await heads.write();
    await journalAll(storage, heads, secrets);
  } finally {
    await storage.close();
  }
}

async function journalAll(
  { log, ownership }: ReturnType<typeof openStorageAsItIs>,
  heads: FileHeads,
  secrets: SecretStore,
): Promise<void> {
  const codec = createAvroCodec({ secrets: secrets.byKeyId });
  for (let partition = 0; partition < log.partitions; partition += 1) {
    await journalAcceptance({
      ...{ partition, log, ownership, codec, heads, secrets, fold: coreFold },
      ...{ clock: systemClock, logger: quietLogger, metrics: noMetrics },
      ...{ checkpoints: null, spanMs: SPAN_MS, offsetsGraceMs: 0 },
    });
  }
}

/** Whether the secret is, or was, in the directory. */
function keepsSecret(look: DirectoryLook): boolean {
  return look.hasSecret || hasLostSecret(look);
}

type OpenedLog =
  | { readonly ok: true; readonly log: LmdbLog }
  | { readonly ok: false; readonly problem: string; readonly isNameless: boolean };

function openAnyLog(look: DirectoryLook): OpenedLog {
  try {
    return { ok: true, log: openDiskLogAsItIs(look, systemClock) };
  } catch (error) {
    const code = error instanceof PipelineError ? error.code : null;
    if (code !== "log_corrupt" && code !== "journal_lost") throw error;
    return { ok: false, problem: (error as Error).message, isNameless: code === "journal_lost" };
  }
}

function readSecrets(dataDir: string): SecretsInOrder | null {
  const path = join(dataDir, SECRET_FILE);
  return existsSync(path) ? validOf(secretsOfFile(readFileSync(path, "utf8"))) : null;
}

function validOf(result: SecretResult): SecretsInOrder | null {
  return result.ok ? result : null;
}

function secretsFor(dataDir: string, suppliedSecret: string | Uint8Array | undefined): SecretStore {
  const result =
    suppliedSecret === undefined ? openSecretFile(dataDir, true) : secretFrom(suppliedSecret);
  if (result.ok) return registerSecrets(result.secret, result.earlier, directoryRemedy(dataDir));
  const { message, cause } = result.problem;
  throw new CallgateError("secret_unreadable", message, { cause });
}

function secretLoss(dataDir: string): string {
  return `the secret \`${join(dataDir, SECRET_FILE)}\` is missing, or holds none`;
}

function setAside(path: string, suffix: string): void {
  if (existsSync(path)) renameSync(path, `${path}.${suffix}`);
}

/** A gate whose log was deleted goes on writing to a file without a name. */
async function assertNoHeartbeat(dataDir: string): Promise<void> {
  const path = join(dataDir, HEARTBEAT_FILE);
  const beatMs = () => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const before = beatMs();
  if (systemClock.nowMs() - before > HEARTBEAT_YOUNG_MS) return;
  await systemClock.sleep(HEARTBEAT_WATCH_MS);
  if (beatMs() === before) return;
  throw new FatalError("role_taken", `a gate still runs on \`${dataDir}\`: stop it first`);
}
