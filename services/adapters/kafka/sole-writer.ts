/**
 * Where somebody else may have written into a journal that has one writer. Gates of one `kafka.app` and
 * group fence each other; of another app or group they do not, and each would decide every call once more.
 * The offsets show it: a transaction takes those of its records and one for its end. More lies between two
 * of them where the cluster has marked an end twice, after a failure, or where there are records of others.
 */
import type { Appended, OutgoingRecord } from "../../runtime/ports.ts";

/** A mark ends each transaction. */
const MARKS = 1;

/** From the first offset to before the other. */
export type OffsetGap = { readonly from: number; readonly to: number };

export class SoleWriter {
  /** Where the journal goes on after what was written last; undefined: nothing was. */
  #next: number | undefined;

  /** @param appended where the records went, in their order. Null: they lie one behind the other. */
  gapBefore(records: readonly OutgoingRecord[], appended: readonly Appended[]): OffsetGap | null {
    let next = this.#next;
    let gap: OffsetGap | null = null;
    for (let at = 0; at < records.length; at += 1) {
      if (records[at]?.topic !== "decisions") continue;
      const { offset } = appended[at] as Appended;
      if (next !== undefined && offset !== next) gap ??= { from: next, to: offset };
      next = offset + 1;
    }
    if (next !== undefined && next !== this.#next) this.#next = next + MARKS;
    return gap;
  }
}
