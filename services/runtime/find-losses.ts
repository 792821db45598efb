/** Finds what of a journal is lost, as far as its head and its secrets show. Reads only. */
import { missingSecrets } from "./anchor.ts";
import { StateCorruptError } from "./errors.ts";
import type { JournalAnchor } from "./journal.ts";
import { findHeadProblem, type StoredHead } from "./journal-head.ts";
import type { Codec, Log } from "./ports.ts";
import { readJournal } from "./read-journal.ts";
import { JOURNAL_TOPIC } from "./topics.ts";

export type JournalLosses = {
  /** One sentence for each loss, without a full stop. */
  readonly losses: readonly string[];
  /** Key ids of secrets that the journal needs and the gate does not have. */
  readonly lostKeyIds: readonly string[];
  /** Why no gate can continue with this journal; null: one can. */
  readonly unreadable: string | null;
};

export type LossesContext = {
  readonly log: Log;
  readonly codec: Codec;
  readonly partition: number;
  /** Null: nobody knows how far the journal had come. */
  readonly head: StoredHead | null;
  /**
   * Fingerprints of the available secrets, by key id; null: secrets are not checked, and no record
   * is read for them.
   */
  readonly fingerprints: ReadonlyMap<string, string> | null;
  /** See `missingSecrets`. */
  readonly sinceMs: number;
};

export async function findJournalLosses(context: LossesContext): Promise<JournalLosses> {
  const { head, fingerprints, sinceMs } = context;
  const isOpen = head !== null && head.acceptance === null;
  const problem = isOpen ? await findHeadProblem(context, head) : null;
  const losses = problem === null ? [] : [problem.loss];
  if (fingerprints === null) return { losses, lostKeyIds: [], unreadable: null };
  try {
    const anchor = await lastAnchor(context);
    const accepted = head?.acceptance?.lostKeyIds ?? [];
    const missing = missingSecrets(anchor, fingerprints, sinceMs);
    const lostKeyIds = missing.map(({ keyId }) => keyId).filter((id) => !accepted.includes(id));
    return { losses: [...losses, ...lostKeyIds.map(secretLoss)], lostKeyIds, unreadable: null };
  } catch (error) {
    if (!(error instanceof StateCorruptError)) throw error;
    return { losses, lostKeyIds: [], unreadable: error.message };
  }
}

function secretLoss(keyId: string): string {
  return (
    `the secret of key id \`${keyId}\` is missing, and the journal was written with it: calls that are tried ` +
    "again get another idempotency key, repeats of calls with sensitive arguments are not recognized, and " +
    "what was sealed cannot be opened"
  );
}

async function lastAnchor({ log, codec, partition }: LossesContext): Promise<JournalAnchor | null> {
  const start = await log.startOffset(JOURNAL_TOPIC, partition);
  const end = await log.endOffset(JOURNAL_TOPIC, partition);
  let last: JournalAnchor | null = null;
  for await (const entries of readJournal(log, codec, partition, start, end)) {
    for (const { record } of entries) last = record.anchor ?? last;
  }
  return last;
}
