import type { CommittedRecord } from "./journal.ts";
import type { PartitionState } from "./partition-state.ts";
import type { CommitOutcome, PartitionWriter } from "./ports.ts";
import type { StagedBatch } from "./process-batch.ts";

export type BatchOutcome =
  | { readonly type: "committed"; readonly records: readonly CommittedRecord[] }
  | Exclude<CommitOutcome, { type: "committed" }>;

/**
 * The only place that commits: it writes the batch, and applies it to the committed state only when
 * the log confirms that all of it was written.
 * @throws FencedError: another owner has the partition; nothing was written.
 */
export async function commitBatch(
  writer: PartitionWriter,
  state: PartitionState,
  batch: StagedBatch,
): Promise<BatchOutcome> {
  const { records: sent, staged } = batch;
  const outcome = await writer.commit({ records: sent, consumed: staged.progress.next });
  if (outcome.type !== "committed") return outcome;
  if (outcome.appended.length !== sent.length) {
    const error = new Error(
      `${sent.length} records were sent and ${outcome.appended.length} were acknowledged`,
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
    state.apply(staged.change(last.offset + 1, last.appendTimeMs));
  }
  return { type: "committed", records };
}
