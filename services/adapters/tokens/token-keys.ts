/** Reads and creates the keys that verify and sign tokens: a JWKS whose keys have a `kid`. */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { type CryptoKey, importJWK, type JWK } from "jose";

/** The signature algorithms of tokens; each has one form of key. */
export type TokenAlgorithm = "EdDSA" | "HS256";

export type TokenKey = {
  readonly keyId: string;
  readonly algorithm: TokenAlgorithm;
  readonly key: CryptoKey | Uint8Array;
  /** False for a public key, which can only verify. */
  readonly canSign: boolean;
};

export type TokenKeys = ReadonlyMap<string, TokenKey>;

export type TokenKeysResult =
  | { readonly ok: true; readonly keys: TokenKeys }
  | { readonly ok: false; readonly message: string };

const KEYS_MAX = 100;
const TEXT_CHARACTERS_MAX = 256 * 1024;
/** RFC 7518, 3.2: an HS256 key is at least as long as its hash. */
const SECRET_BYTES_MIN = 32;

/** Reads keys from the text of a JWKS file, or returns its problem; the message quotes no key. */
export async function readTokenKeys(text: string): Promise<TokenKeysResult> {
  if (text.length > TEXT_CHARACTERS_MAX) return failed("the file is too large for a set of keys");
  try {
    return await tokenKeysOf(JSON.parse(text));
  } catch {
    return failed('the file is not JSON: write `{"keys": [ … ]}`');
  }
}

export async function tokenKeysOf(set: unknown): Promise<TokenKeysResult> {
  const list: unknown = isObject(set) ? set["keys"] : undefined;
  if (!Array.isArray(list)) return failed('there is no list of keys: write `{"keys": [ … ]}`');
  if (list.length === 0) return failed("the list of keys is empty");
  if (list.length > KEYS_MAX) return failed(`there are more than ${KEYS_MAX} keys`);
  const keys = new Map<string, TokenKey>();
  for (const [at, jwk] of list.entries()) {
    const read = await readKey(jwk);
    if (typeof read === "string") return failed(`keys[${at}] ${read}`);
    if (keys.has(read.keyId)) return failed(`keys[${at}] has the \`kid\` of an earlier key`);
    keys.set(read.keyId, read);
  }
  return { ok: true, keys };
}

async function readKey(jwk: unknown): Promise<TokenKey | string> {
  if (!isObject(jwk)) return "is not an object";
  const { kid: keyId, kty, crv, alg, use } = jwk;
  if (typeof keyId !== "string" || !/^[!-~]{1,256}$/.test(keyId)) {
    return "needs a `kid`: 1 to 256 printable ASCII characters without blanks";
  }
  const algorithm = algorithmOf(kty, crv);
  if (algorithm === undefined) {
    return "must be `kty: OKP` with `crv: Ed25519` (EdDSA), or `kty: oct` (HS256)";
  }
  if (alg !== undefined && alg !== algorithm) return `must have \`alg: ${algorithm}\`, or none`;
  if (use !== undefined && use !== "sig") return "must have `use: sig`, or none";
  try {
    const key = await importJWK(jwk as JWK, algorithm);
    if (key instanceof Uint8Array && key.length < SECRET_BYTES_MIN) {
      return `has ${key.length} bytes: HS256 needs at least ${SECRET_BYTES_MIN}`;
    }
    const canSign = algorithm === "HS256" || typeof jwk["d"] === "string";
    return { keyId, algorithm, key, canSign };
  } catch {
    return "cannot be read as a key: a member is missing or not base64url";
  }
}

function algorithmOf(kty: unknown, crv: unknown): TokenAlgorithm | undefined {
  if (kty === "oct") return "HS256";
  return kty === "OKP" && crv === "Ed25519" ? "EdDSA" : undefined;
}

/** A JWK as plain members. */
export type PlainJwk = Readonly<Record<string, string>>;

export type MadeKey = {
  /** The key for the platform, which signs tokens. */
  readonly signing: PlainJwk;
  /** The key for the gate, which verifies tokens; the same one for HS256. */
  readonly verifying: PlainJwk;
};

export function makeTokenKey(algorithm: TokenAlgorithm, keyId: string): MadeKey {
  const keyAttributes = { kid: keyId, alg: algorithm, use: "sig" };
  if (algorithm === "HS256") {
    const k = randomBytes(SECRET_BYTES_MIN).toString("base64url");
    const made = { kty: "oct", k, ...keyAttributes };
    return { signing: made, verifying: made };
  }
  const { privateKey } = generateKeyPairSync("ed25519");
  const { crv = "Ed25519", x = "", d = "" } = privateKey.export({ format: "jwk" });
  const open = { kty: "OKP", crv, x };
  return { signing: { ...open, d, ...keyAttributes }, verifying: { ...open, ...keyAttributes } };
}

function failed(message: string): TokenKeysResult {
  return { ok: false, message };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
