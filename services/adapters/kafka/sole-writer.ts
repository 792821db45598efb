/**
 * Whether a journal has one writer. Gates of one `kafka.app` and group fence each other; of another app or
 * group they do not, and each would decide every call once more. The offsets show it: a transaction takes
 * those of its records and one for its end, and whatever lies between two of them is somebody else's.
 */
import type { Appended, OutgoingRecord } from "../../runtime/ports.ts";

/** A mark ends each transaction. */
const MARKS = 1;

export class SoleWriter {
  /** Where the journal goes on after what was written last; undefined: nothing was. */
  #next: number | undefined;

  /** @param appended where the records went, in their order. False: somebody else has written meanwhile. */
  isAlone(records: readonly OutgoingRecord[], appended: readonly Appended[]): boolean {
    let next = this.#next;
    let alone = true;
    for (let at = 0; at < records.length; at += 1) {
      if (records[at]?.topic !== "decisions") continue;
      const { offset } = appended[at] as Appended;
      if (next !== undefined && offset !== next) alone = false;
      next = offset + 1;
    }
    if (next !== undefined && next !== this.#next) this.#next = next + MARKS;
    return alone;
  }
}
