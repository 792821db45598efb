/**
 * The secrets as the core uses them: to let a digest stand for a sensitive value, and to seal the value
 * itself for whoever has the secret. The secrets stay inside: nothing of them can be printed.
 */
import { openText, type SealedText, sealedDigest, sealText } from "./seal-text.ts";

/** What a sealed value is opened for alone: its tenant, the decision, the place in the arguments. */
export type SealPath = readonly [tenantId: string, decisionId: string, pointer: string];

export interface Sealing {
  /** Id of the secret for conversations that have nothing sealed yet. */
  readonly keyId: string;
  /** Values that are digests already stand for themselves: a recorded journal is decided again. */
  readonly recorded: boolean;
  /** `sealed:<keyId>:<64 hex digits>`. @throws MissingSecretError, as the others do. */
  readonly digest: (keyId: string, tenantId: string, text: string) => string;
  readonly seal: (keyId: string, path: SealPath, text: string) => SealedText;
  /** Null where it was sealed for another place, or is damaged. */
  readonly open: (keyId: string, path: SealPath, sealed: SealedText) => string | null;
}

/** No defect and no fault of the input: the gate stops until it has the secret. */
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

/** `secrets`: by key id; may lack `keyId` where nothing sensitive is ever decided. */
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

/** Whether a value has the form of a digest; anyone can write one, so it proves nothing of a proposal. */
export function looksSealed(value: unknown): boolean {
  return typeof value === "string" && DIGEST.test(value);
}
