import type { CommittedRecord } from "./journal.ts";
import type { PartitionState } from "./partition-state.ts";
import type { CommitOutcome, PartitionWriter } from "./ports.ts";
import type { StagedBatch } from "./process-batch.ts";

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
): Promise<BatchOutcome> {
  const { records: sent, staged } = batch;
  const outcome = await writer.commit({ records: sent, consumed: staged.progress.next });
  if (outcome.type !== "committed") return outcome;
  if (outcome.appended.length !== sent.length) {
    const error = new Error(
      `${sent.length} records were sent, ${outcome.appended.length} acknowledged`,
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
