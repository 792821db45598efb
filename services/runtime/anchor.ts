/**
 * What a journal rests on: the secrets that its idempotency keys and digests are made with. A gate that
 * lacks one of them would give a retry another key, and the call would be done twice: it does not decide.
 */
import { FatalError } from "./errors.ts";
import type { AcceptedLoss, JournalAnchor, SecretMark } from "./journal.ts";

/** The latest anchor of a journal. */
export type Anchored = Pick<JournalAnchor, "secrets" | "lostKeyIds"> & {
  /** Gate time of the record that has it. */
  readonly atMs: number;
};

/** The secrets that a gate has. */
export interface RegisteredSecrets {
  /** New idempotency keys are made with it. */
  readonly currentKeyId: string;
  /** Of all of them, by key id. */
  readonly fingerprints: ReadonlyMap<string, string>;
  /** How to give the gate a secret that it lacks: a sentence without a full stop. */
  readonly remedy: string;
  /** Puts another secret in the position of one that is lost for good. */
  replaceLost(keyId: string): void;
}

/** A loss that a person accepted, as it waits for the gate to journal it. */
export type Acceptance = AcceptedLoss & {
  /** Secrets that the gate does without from now on. */
  readonly lostKeyIds: readonly string[];
};

export type AnchorTerms = {
  readonly registered: RegisteredSecrets;
  /** An anchor that is so old is repeated. */
  readonly repeatAfterMs: number;
  /** How long a secret may be needed after another took over. */
  readonly spanMs: number;
  /** A loss that no record tells of yet. */
  readonly acceptance: Acceptance | null;
};

export function anchoredBy(anchor: JournalAnchor | null, atMs: number): Anchored | null {
  if (anchor === null) return null;
  const { secrets, lostKeyIds } = anchor;
  return { secrets, lostKeyIds, atMs };
}

/**
 * What the next record has to say; null: nothing.
 * @param nowMs its gate time.
 * @param isIdle it has no input. Time stands still in a journal of such records, and retention does not.
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
    secrets: [currentOf(registered), ...superseded(before, terms, nowMs, lost)],
    lostKeyIds: [...lost].filter((keyId) => keyId !== registered.currentKeyId),
    accepted: acceptance === null ? null : lossOf(acceptance),
  };
}

function currentOf({ currentKeyId: keyId, fingerprints }: RegisteredSecrets): SecretMark {
  return { keyId, fingerprint: fingerprints.get(keyId) ?? "", supersededAtMs: null };
}

/** Secrets used before the present one, for as long as a call of theirs may be tried again. */
function superseded(
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
 * Secrets that the journal needs and nobody has.
 * @param sinceMs no call needs a secret any more that another took over from before then.
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
 * Lets a gate begin that has every secret the journal needs, or whose lack somebody accepted.
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
