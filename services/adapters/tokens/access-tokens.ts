/**
 * Access tokens of the HTTP server: `cg_<id>_<secret>`. A directory has one file for each token, which
 * holds the hash of its secret. So tokens are made and withdrawn while servers run.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDirectory } from "../system/make-directory.ts";

export const ROLES = ["propose", "execute", "approve", "read", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** What a token allows. */
export type TokenGrant = {
  /** Who uses the token; approvals and the log name it. */
  readonly name: string;
  readonly roles: readonly Role[];
  /** Null: all tenants. */
  readonly tenantId: string | null;
  /** The agent that every proposal with this token is from. */
  readonly agentId: string | null;
  /** Null: all conversations of the tenant. */
  readonly conversationId: string | null;
  /** Whether the token's user may state what only a platform knows, such as the turn. */
  readonly platform: boolean;
  /** Unix time in ms; null: never. */
  readonly expiresAtMs: number | null;
};

/** A token as its file describes it. */
export type StoredToken = TokenGrant & {
  readonly id: string;
  /** SHA-256 of the secret, as hexadecimal digits. */
  readonly hash: string;
  readonly createdAtMs: number;
};

const TOKEN = /^cg_([0-9a-f]{16})_([\w-]{43})$/;
const ID_BYTES = 8;
const SECRET_BYTES = 32;
/** How long a withdrawn token may still be accepted. */
const CACHE_MS = 1_000;
const CACHED_MAX = 10_000;

/**
 * Makes a token and writes its file. @returns the text of the token, which is stored nowhere.
 * @throws the system's error if the file cannot be written.
 */
export function createAccessToken(directory: string, grant: TokenGrant, nowMs: number): string {
  makeDirectory(directory, 0o700);
  const id = randomBytes(ID_BYTES).toString("hex");
  const secret = randomBytes(SECRET_BYTES).toString("base64url");
  const stored: StoredToken = { id, ...grant, hash: hashOf(secret), createdAtMs: nowMs };
  const text = `${JSON.stringify(stored, null, 2)}\n`;
  writeFileSync(fileOf(directory, id), text, { mode: 0o600, flag: "wx", flush: true });
  return `cg_${id}_${secret}`;
}

/** All tokens of a directory, the oldest first; none if the directory does not exist. */
export function listAccessTokens(directory: string): readonly StoredToken[] {
  return tokenIds(directory)
    .map((id) => readToken(directory, id))
    .filter((token) => token !== null)
    .sort((a, b) => a.createdAtMs - b.createdAtMs);
}

/** Withdraws a token. @returns false if there is none with this id. */
export function revokeAccessToken(directory: string, id: string): boolean {
  if (!tokenIds(directory).includes(id)) return false;
  rmSync(fileOf(directory, id));
  return true;
}

type Cached = { readonly token: StoredToken | null; readonly untilMs: number };

/** Finds the token that a request carries. A withdrawn token is refused after at most one second. */
export class AccessTokens {
  readonly #directory: string;
  readonly #cached = new Map<string, Cached>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Null: it is no token of this directory, or has expired. */
  find(text: string, nowMs: number): StoredToken | null {
    const [, id = "", secret = ""] = TOKEN.exec(text) ?? [];
    if (id === "") return null;
    const token = this.#read(id, nowMs);
    if (token === null || !hasSecret(token, secret)) return null;
    return token.expiresAtMs !== null && token.expiresAtMs <= nowMs ? null : token;
  }

  #read(id: string, nowMs: number): StoredToken | null {
    const cached = this.#cached.get(id);
    if (cached !== undefined && cached.untilMs > nowMs) return cached.token;
    if (this.#cached.size >= CACHED_MAX) this.#cached.clear();
    const token = readToken(this.#directory, id);
    this.#cached.set(id, { token, untilMs: nowMs + CACHE_MS });
    return token;
  }
}

function tokenIds(directory: string): readonly string[] {
  try {
    const names = readdirSync(directory);
    return names.flatMap((name) => /^([0-9a-f]{16})\.json$/.exec(name)?.[1] ?? []);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

function readToken(directory: string, id: string): StoredToken | null {
  try {
    return JSON.parse(readFileSync(fileOf(directory, id), "utf8")) as StoredToken;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

function fileOf(directory: string, id: string): string {
  return join(directory, `${id}.json`);
}

function hasSecret({ hash }: StoredToken, secret: string): boolean {
  const [stored, sent] = [hash, hashOf(secret)].map((one) => Buffer.from(one, "hex"));
  if (stored === undefined || sent === undefined || stored.length !== sent.length) return false;
  return timingSafeEqual(stored, sent);
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, "code") : undefined;
}
