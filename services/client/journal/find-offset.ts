import type { Log } from "../../runtime/ports.ts";
import type { Topic } from "../../runtime/topics.ts";

const ONE_RECORD = { recordsMax: 1, bytesMax: 1 };

/**
 * An offset at or before every record that was appended at or after the time, and close to the
 * first of them. A binary search: it asks the log about log2(records) times.
 */
export async function findOffsetAt(
  log: Log,
  topic: Topic,
  partition: number,
  timeMs: number,
): Promise<number> {
  let low = await log.startOffset(topic, partition);
  let high = await log.endOffset(topic, partition);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const { records } = await log.read(topic, partition, middle, ONE_RECORD);
    const [record] = records;
    // Nothing from here on, or something late enough: the target is before.
    if (record === undefined || record.appendTimeMs >= timeMs) high = middle;
    else low = record.offset + 1;
  }
  return low;
}
