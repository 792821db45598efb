import { StateCorruptError } from "./errors.ts";
import type { Codec, Log } from "./ports.ts";
import type { JournalEntry } from "./replay.ts";
import { JOURNAL_TOPIC } from "./topics.ts";

/** So few that decoding them holds up nothing else for long. */
const READ_LIMITS = { recordsMax: 250, bytesMax: 1024 * 1024 };

type JournalPlace = {
  readonly log: Log;
  readonly codec: Codec;
  readonly partition: number;
};

type JournalStretch = {
  readonly entries: readonly JournalEntry[];
  readonly nextOffset: number;
};

/**
 * What can be read of a partition's journal from an offset on, at most up to an end; nothing at its end.
 * @throws StateCorruptError where a record cannot be decoded; RetryableError where the log does not
 *   answer, or a record's schema cannot be had now.
 */
export async function readStretch(
  { log, codec, partition }: JournalPlace,
  offset: number,
  endOffset: number,
): Promise<JournalStretch> {
  const { records, nextOffset } = await log.read(JOURNAL_TOPIC, partition, offset, READ_LIMITS);
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
  return { entries, nextOffset };
}

/**
 * The journal of a partition from an offset up to an end, in stretches.
 * @throws as `readStretch`; StateCorruptError also where the log ends before the end.
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
    const { entries, nextOffset } = await readStretch({ log, codec, partition }, offset, endOffset);
    if (nextOffset <= offset) {
      throw new StateCorruptError(`the journal ends at ${offset}, before ${endOffset}`, {
        context: { partition, offset, endOffset },
      });
    }
    yield entries;
    offset = nextOffset;
  }
}
