import { StateCorruptError } from "./errors.ts";
import type { Codec, Log } from "./ports.ts";
import type { JournalEntry } from "./replay.ts";
import { JOURNAL_TOPIC } from "./topics.ts";

const READ_LIMITS = { recordsMax: 1_000, bytesMax: 4 * 1024 * 1024 };

/**
 * The journal of a partition from an offset up to an end, in stretches.
 * @throws StateCorruptError where a record cannot be decoded, or the log ends before the end;
 *   RetryableError where the log does not answer, or a record's schema cannot be had now.
 */
export async function* readJournal(
  log: Log,
  codec: Codec,
  partition: number,
  fromOffset: number,
  endOffset: number,
): AsyncGenerator<readonly JournalEntry[]> {
  let offset = fromOffset;
  while (offset < endOffset) {
    const { records, nextOffset } = await log.read(JOURNAL_TOPIC, partition, offset, READ_LIMITS);
    if (nextOffset <= offset) {
      throw new StateCorruptError(`the journal ends at ${offset}, before ${endOffset}`, {
        context: { partition, offset, endOffset },
      });
    }
    const entries: JournalEntry[] = [];
    for (const record of records) {
      if (record.offset >= endOffset) break;
      if (record.value === null) {
        throw new StateCorruptError(`the journal has an empty record at ${record.offset}`, {
          context: { partition, offset: record.offset },
        });
      }
      const pending = codec.pending?.(record.value) ?? null;
      if (pending !== null) await pending;
      entries.push({ record: codec.decodeJournal(record.value), log: record });
    }
    yield entries;
    offset = nextOffset;
  }
}
