/**
 * The secrets as the core uses them: a digest replaces a sensitive value, and the value itself is
 * sealed for the owner of the secret. The secrets stay inside: nothing can print them.
 */
import { openText, type SealedText, sealedDigest, sealText } from "./seal-text.ts";

/** The only tenant, decision and argument path that a sealed value can be opened for. */
export type SealPath = readonly [tenantId: string, decisionId: string, pointer: string];

export interface Sealing {
  /** Id of the secret for conversations without a sealed value. */
  readonly keyId: string;
  /**
   * Whether values that are digests already stay as they are: a recorded journal is decided again.
   */
  readonly recorded: boolean;
  /** `sealed:<keyId>:<64 hex digits>`. @throws MissingSecretError, as the others do. */
  readonly digest: (keyId: string, tenantId: string, text: string) => string;
  readonly seal: (keyId: string, path: SealPath, text: string) => SealedText;
  /** Null where the text was sealed for another path, or is damaged. */
  readonly open: (keyId: string, path: SealPath, sealed: SealedText) => string | null;
}

/** This is neither a defect nor a fault of the input: the gate stops until it has the secret. */
export class MissingSecretError extends Error {
  override readonly name = "MissingSecretError";
  readonly keyId: string;

  constructor(keyId: string) {
    super(
      `no secret has the key id \`${keyId}\`: keep each secret until its conversations are over`,
    );
    this.keyId = keyId;
  }
}

/** `secrets`: by key id; it may lack `keyId` where no sensitive call is ever decided. */
export function createSealing(keyId: string, secrets: ReadonlyMap<string, Uint8Array>): Sealing {
  const secretOf = (id: string): Uint8Array => {
    const secret = secrets.get(id);
    if (secret === undefined) throw new MissingSecretError(id);
    return secret;
  };
  return {
    keyId,
    recorded: false,
    digest: (id, tenantId, text) => `sealed:${id}:${sealedDigest(secretOf(id), tenantId, text)}`,
    seal: (id, path, text) => sealText(secretOf(id), path, text),
    open: (id, path, sealed) => openText(secretOf(id), path, sealed),
  };
}

const DIGEST = /^sealed:[^:]+:[0-9a-f]{64}$/;

/**
 * Whether a value has the form of a digest. Anyone can write one, so it proves nothing about a
 * proposal.
 */
export function looksSealed(value: unknown): boolean {
  return typeof value === "string" && DIGEST.test(value);
}
