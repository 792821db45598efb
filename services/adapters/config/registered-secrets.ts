import { hmac } from "../../core/hash.ts";
import type { RegisteredSecrets } from "../../runtime/anchor.ts";
import type { Secret } from "./secret-file.ts";

/** Of the secrets of a gate: what their journal compares, and what it is written with. */
export type SecretStore = RegisteredSecrets & {
  /** By key id; those of lost secrets are added when the journal names them. */
  readonly byKeyId: ReadonlyMap<string, Uint8Array>;
};

/**
 * @param previous those that were used before.
 * @param remedy see `KnownSecrets`.
 */
export function keepSecrets(
  current: Secret,
  previous: readonly Secret[],
  remedy: string,
): SecretStore {
  const all = [...previous, current];
  const byKeyId = new Map(all.map(({ keyId, bytes }) => [keyId, bytes] as const));
  return {
    currentKeyId: current.keyId,
    fingerprints: new Map(all.map((secret) => [secret.keyId, fingerprintOf(secret)] as const)),
    remedy,
    byKeyId,
    replaceLost: (keyId) => {
      if (!byKeyId.has(keyId)) byKeyId.set(keyId, substituteFor(keyId, current));
    },
  };
}

/** Gives nothing of the secret away, and is that of no other. */
function fingerprintOf({ keyId, bytes }: Secret): string {
  return Buffer.from(hmac(bytes, `callgate.fingerprint/1\n${keyId}`)).toString("hex");
}

/** The same each time: what goes on under the lost secret's name keeps its keys from then on. */
function substituteFor(keyId: string, { bytes }: Secret): Uint8Array {
  return hmac(bytes, `callgate.lost-secret/1\n${keyId}`);
}
