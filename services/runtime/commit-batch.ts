import type { CommittedRecord } from "./journal.ts";
import type { PartitionState } from "./partition-state.ts";
import type { Appended, CommitOutcome, PartitionWriter } from "./ports.ts";
import type { StagedBatch } from "./process-batch.ts";
import { ALL_SAFEGUARDS, type Safeguards } from "./safeguards.ts";
import { JOURNAL_TOPIC } from "./topics.ts";

export type BatchOutcome =
  | { readonly type: "committed"; readonly records: readonly CommittedRecord[] }
  | Exclude<CommitOutcome, { type: "committed" }>;

/**
 * The one place that commits: writes the batch, and only when the log says that all of it is there
 * lets the committed state take it over.
 * @throws FencedError: another owner has the partition; nothing was written.
 */
export async function commitBatch(
  writer: PartitionWriter,
  state: PartitionState,
  batch: StagedBatch,
  safeguards: Safeguards = ALL_SAFEGUARDS,
): Promise<BatchOutcome> {
  if (!safeguards.swapAfterCommit) applyUnseen(state, batch);
  const outcome = await commitAll(writer, batch, safeguards);
  if (outcome.type !== "committed") return outcome;
  if (outcome.appended.length !== batch.records.length) {
    const error = new Error(
      `${batch.records.length} records were sent, ${outcome.appended.length} acknowledged`,
    );
    return { type: "unknown", error };
  }
  const records: CommittedRecord[] = [];
  for (const { record, index } of batch.journal) {
    const appended = outcome.appended[index];
    if (appended === undefined) continue;
    records.push({ offset: appended.offset, appendTimeMs: appended.appendTimeMs, record });
  }
  const last = outcome.appended[batch.lastJournaled];
  if (last !== undefined) {
    state.apply(batch.staged.change(last.offset + 1, last.appendTimeMs));
  }
  return { type: "committed", records };
}

function commitAll(
  writer: PartitionWriter,
  batch: StagedBatch,
  safeguards: Safeguards,
): Promise<CommitOutcome> {
  const { records } = batch;
  const consumed = batch.staged.progress.next;
  return safeguards.oneCommit ? writer.commit({ records, consumed }) : commitApart(writer, batch);
}

/** Simulation only: what happens if the journal is written before the decisions. */
async function commitApart(writer: PartitionWriter, batch: StagedBatch): Promise<CommitOutcome> {
  const consumed = batch.staged.progress.next;
  const isJournal = (index: number): boolean => batch.records[index]?.topic === JOURNAL_TOPIC;
  const appended: Appended[] = [];
  for (const journalFirst of [true, false]) {
    const indexes = [...batch.records.keys()].filter((index) => isJournal(index) === journalFirst);
    const records = indexes.flatMap((index) => batch.records[index] ?? []);
    const outcome = await writer.commit({ records, consumed });
    if (outcome.type !== "committed") return outcome;
    for (const [at, index] of indexes.entries()) {
      const place = outcome.appended[at];
      if (place !== undefined) appended[index] = place;
    }
  }
  return { type: "committed", appended };
}

/** Simulation only: what happens if state changes before the outcome is known. */
function applyUnseen(state: PartitionState, batch: StagedBatch): void {
  state.apply(batch.staged.change(state.journalOffset + batch.journaled, state.journalTimeMs));
}
