import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256Hex } from "../../core/hash.ts";
import { makeDirectory } from "../system/make-directory.ts";

/** What the secret of a data directory is kept in. */
export const SECRET_FILE = "secret";
const SECRET_BYTES = 32;
const SECRET_BYTES_MIN = 16;
const KEY_ID_DIGITS = 16;

export type Secret = { readonly keyId: string; readonly bytes: Uint8Array };

/** Why the secret cannot be had; `cause` is the system's error, where there is one. */
export type SecretProblem = { readonly message: string; readonly cause?: unknown };

export type SecretResult =
  | { readonly ok: true; readonly secret: Secret }
  | { readonly ok: false; readonly problem: SecretProblem };

/** A secret that is handed over; its id is made from it and does not give it away. */
export function secretFrom(value: string | Uint8Array): SecretResult {
  const bytes = typeof value === "string" ? Buffer.from(value, "utf8") : value;
  if (bytes.length < SECRET_BYTES_MIN) {
    const message = `the secret has ${bytes.length} bytes: give at least ${SECRET_BYTES_MIN}`;
    return { ok: false, problem: { message } };
  }
  const keyId = sha256Hex("callgate.keyid/1", bytes).slice(0, KEY_ID_DIGITS);
  return { ok: true, secret: { keyId, bytes } };
}

/** For a gate that keeps nothing. */
export function makeSecret(): Secret {
  const made = secretFrom(randomBytes(SECRET_BYTES));
  if (!made.ok) throw new Error(made.problem.message);
  return made.secret;
}

/**
 * The secret of a data directory: made by whoever comes first, readable by its owner alone, and never
 * replaced: a new one would make new keys for calls that are still under way.
 * @param mayCreate nothing was decided there yet.
 */
export function openSecretFile(dataDir: string, mayCreate: boolean): SecretResult {
  const path = join(dataDir, SECRET_FILE);
  try {
    makeDirectory(dataDir, 0o700);
    const text = readText(path) ?? (mayCreate ? writeText(path) : undefined);
    if (text === undefined) return failed(`the secret \`${path}\` is missing. ${WAY_OUT}`);
    const secret = secretFrom(text.trim());
    return secret.ok ? secret : failed(`\`${path}\` does not hold a secret. ${WAY_OUT}`);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return failed(`the secret \`${path}\` cannot be used: ${why}`, cause);
  }
}

const WAY_OUT =
  "The journal beside it was written with one: restore it from a backup of the directory, or give it as the " +
  "option `secret` where it was handed over. If it is lost for good, `callgate recover` says what that means " +
  "and `callgate recover --accept-loss` goes on with another";

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

/** Written whole under another name first: two that start at once end up with one secret. */
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
