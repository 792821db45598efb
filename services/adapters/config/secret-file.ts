import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hmac, sha256Hex } from "../../core/hash.ts";
import type { RegisteredSecrets } from "../../runtime/anchor.ts";
import { makeDirectory } from "../system/make-directory.ts";

/** Name of the file with the secret of a data directory. */
export const SECRET_FILE = "secret";
const SECRET_BYTES = 32;
const SECRET_BYTES_MIN = 16;
const KEY_ID_DIGITS = 16;

export type Secret = { readonly keyId: string; readonly bytes: Uint8Array };

/** Why no secret is available; `cause` is the system's error, if there is one. */
export type SecretProblem = { readonly message: string; readonly cause?: unknown };

/** The current secret, and those that it has replaced. */
export type SecretsInOrder = { readonly secret: Secret; readonly earlier: readonly Secret[] };

export type SecretResult =
  | ({ readonly ok: true } & SecretsInOrder)
  | { readonly ok: false; readonly problem: SecretProblem };

/** Makes a secret from a value. The key id is derived from it and does not reveal it. */
export function secretFrom(value: string | Uint8Array): SecretResult {
  const bytes = typeof value === "string" ? Buffer.from(value, "utf8") : value;
  if (bytes.length < SECRET_BYTES_MIN) {
    const message = `the secret has ${bytes.length} bytes: use at least ${SECRET_BYTES_MIN}`;
    return { ok: false, problem: { message } };
  }
  const keyId = sha256Hex("callgate.keyid/1", bytes).slice(0, KEY_ID_DIGITS);
  return { ok: true, secret: { keyId, bytes }, earlier: [] };
}

type SecretValue = string | Uint8Array;

/** Makes secrets of the values: of the first one the current secret. */
export function secretsFrom(secret: SecretValue | readonly SecretValue[]): SecretResult {
  const values = typeof secret === "string" || secret instanceof Uint8Array ? [secret] : secret;
  const earlier: Secret[] = [];
  for (const value of values.slice(1)) {
    const made = secretFrom(value);
    if (!made.ok) return made;
    earlier.push(made.secret);
  }
  const current = secretFrom(values[0] ?? "");
  return current.ok ? { ...current, earlier } : current;
}

/** The lines of a file `secret`: the current secret, and below it those that it has replaced. */
export function secretsOfFile(text: string): SecretResult {
  const lines = text.split("\n").map((line) => line.trim());
  return secretsFrom(lines.filter((line) => line !== ""));
}

/** Creates a random secret, for a gate without storage. */
export function makeSecret(): Secret {
  const made = secretFrom(randomBytes(SECRET_BYTES));
  if (!made.ok) throw new Error(made.problem.message);
  return made.secret;
}

/**
 * Opens the secret of a data directory. The first process creates it, readable by its owner alone.
 * It is never replaced, since a new secret would give running calls new idempotency keys.
 * @param mayCreate true where nothing has been decided in the directory yet.
 */
export function openSecretFile(dataDir: string, mayCreate: boolean): SecretResult {
  const path = join(dataDir, SECRET_FILE);
  try {
    makeDirectory(dataDir, 0o700);
    const text = readText(path) ?? (mayCreate ? writeText(path) : undefined);
    if (text === undefined) return failed(`the secret \`${path}\` is missing. ${WAY_OUT}`);
    const secret = secretsOfFile(text);
    return secret.ok ? secret : failed(`\`${path}\` does not hold a secret. ${WAY_OUT}`);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return failed(`the secret \`${path}\` cannot be used: ${why}`, cause);
  }
}

const WAY_OUT =
  "The journal beside it was written with a secret: restore the file from a backup of the directory, or pass " +
  "the secret as the option `secret` if it was passed before. If it is lost for good, `callgate recover` shows " +
  "what that means, and `callgate recover --accept-loss` goes on with another secret";

function failed(message: string, cause?: unknown): SecretResult {
  return { ok: false, problem: cause === undefined ? { message } : { message, cause } };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes a draft and links it, so that two processes that start at once share one secret. */
function writeText(path: string): string {
  const draft = `${path}.${randomBytes(SECRET_BYTES_MIN).toString("hex")}`;
  const made = randomBytes(SECRET_BYTES).toString("base64url");
  writeFileSync(draft, `${made}\n`, { mode: 0o600, flag: "wx", flush: true });
  try {
    linkSync(draft, path);
    return made;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    return readFileSync(path, "utf8");
  } finally {
    rmSync(draft, { force: true });
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, "code") : undefined;
}

/** The secrets of a gate: their fingerprints for the journal, and their bytes. */
export type SecretStore = RegisteredSecrets & {
  /** Makes another of the secrets the current one. */
  use(keyId: string): void;
  /** By key id. Substitutes of lost secrets are added when the journal names them. */
  readonly byKeyId: ReadonlyMap<string, Uint8Array>;
};

/**
 * @param others earlier secrets, and those that are not in force yet.
 * @param remedy see `RegisteredSecrets`.
 */
export function registerSecrets(
  current: Secret,
  others: readonly Secret[],
  remedy: string,
): SecretStore {
  const all = [...others, current];
  let currentKeyId = current.keyId;
  const byKeyId = new Map(all.map(({ keyId, bytes }) => [keyId, bytes] as const));
  return {
    get currentKeyId() {
      return currentKeyId;
    },
    use: (keyId) => {
      currentKeyId = keyId;
    },
    fingerprints: new Map(all.map((secret) => [secret.keyId, fingerprintOf(secret)] as const)),
    remedy,
    byKeyId,
    replaceLost: (keyId) => {
      if (!byKeyId.has(keyId)) byKeyId.set(keyId, substituteFor(keyId, current));
    },
  };
}

/** Identifies a secret without revealing it. */
function fingerprintOf({ keyId, bytes }: Secret): string {
  return Buffer.from(hmac(bytes, `callgate.fingerprint/1\n${keyId}`)).toString("hex");
}

/**
 * Derived from the current secret, so that a lost key id has the same substitute at every start.
 */
function substituteFor(keyId: string, { bytes }: Secret): Uint8Array {
  return hmac(bytes, `callgate.lost-secret/1\n${keyId}`);
}
