import type { ConversationBounds } from "./conversation-bounds.ts";
import type { CommittedRecord } from "./journal.ts";
import type { PartitionState } from "./partition-state.ts";
import type { CommitOutcome, PartitionWriter } from "./ports.ts";
import type { StagedBatch } from "./process-batch.ts";

/** What has the partition: the right to write, and the committed state. */
type Run = { readonly writer: PartitionWriter; readonly state: PartitionState };

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

/**
 * The same, and until the outcome is known the other partitions count the conversations of the batch,
 * too.
 */
export async function commitCounted(
  {
    partition,
    bounds,
  }: { readonly partition: number; readonly bounds?: ConversationBounds | null },
  { writer, state }: Run,
  batch: StagedBatch,
): Promise<BatchOutcome> {
  bounds?.track(partition, batch.staged);
  try {
    return await commitBatch(writer, state, batch);
  } finally {
    bounds?.track(partition, state);
  }
}
