/** Follows the journal of a partition from an offset: first what is stored, then what is new. */
import { setImmediate, setTimeout } from "node:timers/promises";
import type { CommittedRecord } from "../../runtime/journal.ts";
import type { JournalTail } from "./journal-tail.ts";

const OPEN_TRANSACTION_MS = 100;

export type OnRecords = (records: readonly CommittedRecord[], partition: number) => void;

/**
 * Passes on every record from the offset on, once and in order. Resolves with a function that ends
 * it, once all that was committed before is passed on; later records are passed on as they are
 * delivered, before requests about them are answered.
 *
 * @throws CallgateError if the journal cannot be read; nothing is passed on afterwards.
 */
export async function readOn(
  tail: JournalTail,
  { partition, offset }: { readonly partition: number; readonly offset: number },
  onRecords: OnRecords,
): Promise<() => void> {
  await tail.follow();
  for (let next = offset; ; ) {
    const recent = tail.recent(partition, next);
    if (recent !== null) {
      // In one turn, so that no delivery lies between.
      onRecords(recent, partition);
      return followFrom(tail, partition, (recent.at(-1)?.offset ?? next - 1) + 1, onRecords);
    }
    const { records, nextOffset } = await tail.read(partition, next);
    onRecords(records, partition);
    // A transaction of the gate may be open, behind which nothing can be read.
    await (nextOffset === next ? setTimeout(OPEN_TRANSACTION_MS) : setImmediate());
    next = nextOffset;
  }
}

function followFrom(
  tail: JournalTail,
  partition: number,
  from: number,
  onRecords: OnRecords,
): () => void {
  return tail.onCommitted((records, one) => {
    if (one !== partition) return;
    const fresh = records.filter(({ offset }) => offset >= from);
    if (fresh.length > 0) onRecords(fresh, partition);
  });
}
