/**
 * What a journal depends on: the secrets that its idempotency keys and digests are made with. A
 * gate that lacks one of them would give a retry another key, and the call would be executed twice.
 * Such a gate does not decide.
 */
import { FatalError } from "./errors.ts";
import type { AcceptedLoss, JournalAnchor, SecretMark } from "./journal.ts";

/** The latest anchor in a journal. */
export type Anchored = Pick<JournalAnchor, "secrets" | "lostKeyIds"> & {
  /** Gate time of the record that holds it. */
  readonly atMs: number;
};

/** The secrets that a gate has. */
export interface RegisteredSecrets {
  /** Key id of the secret that new idempotency keys are made with. */
  readonly currentKeyId: string;
  /** Fingerprints of all secrets, by key id. */
  readonly fingerprints: ReadonlyMap<string, string>;
  /** How to give the gate a secret that it lacks: a sentence without a full stop. */
  readonly remedy: string;
  /** Registers the current secret under the key id of one that is lost for good. */
  replaceLost(keyId: string): void;
}

/** A loss that a person accepted and that the gate has yet to journal. */
export type Acceptance = AcceptedLoss & {
  /** Key ids of the secrets that the gate does without from now on. */
  readonly lostKeyIds: readonly string[];
};

export type AnchorTerms = {
  readonly registered: RegisteredSecrets;
  /** The age in ms at which an anchor is written again. */
  readonly repeatAfterMs: number;
  /** How long in ms a secret may still be needed after another has replaced it. */
  readonly spanMs: number;
  /** A loss that no journal record has reported yet. */
  readonly acceptance: Acceptance | null;
};

export function anchoredBy(anchor: JournalAnchor | null, atMs: number): Anchored | null {
  if (anchor === null) return null;
  const { secrets, lostKeyIds } = anchor;
  return { secrets, lostKeyIds, atMs };
}

/**
 * The anchor that the next record must carry; null: none.
 * @param nowMs gate time of that record.
 * @param isIdle the record has no input. Gate time does not advance in a journal of such records,
 *   but retention does.
 */
export function anchorFor(
  before: Anchored | null,
  terms: AnchorTerms,
  nowMs: number,
  isIdle: boolean,
): JournalAnchor | null {
  const { registered, repeatAfterMs, acceptance } = terms;
  const isCurrent = before !== null && before.secrets[0]?.keyId === registered.currentKeyId;
  const isRecent = isCurrent && nowMs - before.atMs < repeatAfterMs;
  if (isRecent && !isIdle && acceptance === null) return null;
  const lost = new Set([...(before?.lostKeyIds ?? []), ...(acceptance?.lostKeyIds ?? [])]);
  return {
    secrets: [currentOf(registered), ...supersededSecrets(before, terms, nowMs, lost)],
    lostKeyIds: [...lost].filter((keyId) => keyId !== registered.currentKeyId),
    accepted: acceptance === null ? null : lossOf(acceptance),
  };
}

function currentOf({ currentKeyId: keyId, fingerprints }: RegisteredSecrets): SecretMark {
  return { keyId, fingerprint: fingerprints.get(keyId) ?? "", supersededAtMs: null };
}

/** Secrets used before the current one, for as long as a call that used them may be retried. */
function supersededSecrets(
  before: Anchored | null,
  { registered, spanMs }: AnchorTerms,
  nowMs: number,
  lost: ReadonlySet<string>,
): readonly SecretMark[] {
  return (before?.secrets ?? [])
    .filter(({ keyId }) => keyId !== registered.currentKeyId && !lost.has(keyId))
    .map((mark) => ({ ...mark, supersededAtMs: mark.supersededAtMs ?? nowMs }))
    .filter(({ supersededAtMs }) => nowMs - supersededAtMs < spanMs);
}

function lossOf({ by, reason, atMs, losses }: Acceptance): AcceptedLoss {
  return { by, reason, atMs, losses };
}

/**
 * Secrets that the journal needs and the gate does not have.
 * @param sinceMs no call needs a secret that was replaced before this time.
 */
export function missingSecrets(
  anchored: Pick<Anchored, "secrets" | "lostKeyIds"> | null,
  fingerprints: ReadonlyMap<string, string>,
  sinceMs: number,
): readonly SecretMark[] {
  const { secrets = [], lostKeyIds = [] } = anchored ?? {};
  return secrets.filter(
    ({ keyId, fingerprint, supersededAtMs }) =>
      fingerprints.get(keyId) !== fingerprint &&
      !lostKeyIds.includes(keyId) &&
      (supersededAtMs === null || supersededAtMs >= sinceMs),
  );
}

/**
 * Ensures that the gate has every secret that the journal needs, except those whose loss somebody
 * accepted.
 * @param sinceMs see `missingSecrets`.
 * @throws FatalError `secret_missing`
 */
export function assertSecrets(
  anchored: Anchored | null,
  registered: RegisteredSecrets,
  acceptance: Acceptance | null,
  sinceMs: number,
): void {
  const accepted = acceptance?.lostKeyIds ?? [];
  const missing = missingSecrets(anchored, registered.fingerprints, sinceMs).filter(
    ({ keyId }) => !accepted.includes(keyId),
  );
  if (missing.length > 0) throw secretMissing(missing, registered);
  for (const keyId of [...(anchored?.lostKeyIds ?? []), ...accepted]) {
    if (!registered.fingerprints.has(keyId)) registered.replaceLost(keyId);
  }
}

function secretMissing(missing: readonly SecretMark[], registered: RegisteredSecrets): FatalError {
  const ids = missing.map(({ keyId }) => `\`${keyId}\``).join(", ");
  const [first] = missing;
  return new FatalError(
    "secret_missing",
    `the journal was written with the secret of key id ${ids}, and the gate has ` +
      `\`${registered.currentKeyId}\`: with another secret a call that is tried again would get another ` +
      `idempotency key. ${registered.remedy}`,
    { context: { keyId: first?.keyId ?? "", current: registered.currentKeyId } },
  );
}
