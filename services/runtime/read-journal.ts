import { StateCorruptError } from "./errors.ts";
import type { JournalRecord } from "./journal.ts";
import type { Codec, Log, LogRecord } from "./ports.ts";
import type { JournalEntry } from "./replay.ts";
import { JOURNAL_TOPIC } from "./topics.ts";

/** Few enough that decoding them delays nothing else for long. */
const READ_LIMITS = { recordsMax: 250, bytesMax: 1024 * 1024 };

type JournalSource = {
  readonly log: Log;
  readonly codec: Codec;
  readonly partition: number;
};

/** Receives a record that cannot be decoded; undefined: the error is thrown. */
type OnUnreadable = (offset: number, error: StateCorruptError) => void;

type JournalStretch = {
  readonly entries: readonly JournalEntry[];
  readonly nextOffset: number;
};

/**
 * One stretch of a partition's journal, from an offset up to an end at most; empty at the journal's
 * end.
 * @throws StateCorruptError where a record cannot be decoded and there is no `onUnreadable`;
 *   RetryableError where the log does not answer, or a record's schema cannot be had now.
 */
export async function readStretch(
  { log, codec, partition }: JournalSource,
  offset: number,
  endOffset: number,
  onUnreadable?: OnUnreadable,
): Promise<JournalStretch> {
  const { records, nextOffset } = await log.read(JOURNAL_TOPIC, partition, offset, READ_LIMITS);
  const entries: JournalEntry[] = [];
  for (const record of records) {
    if (record.offset >= endOffset) break;
    try {
      entries.push({ record: await journalRecordOf(codec, partition, record), log: record });
    } catch (error) {
      if (onUnreadable === undefined || !(error instanceof StateCorruptError)) throw error;
      onUnreadable(record.offset, error);
    }
  }
  return { entries, nextOffset };
}

/**
 * Decodes a record of the journal.
 * @throws StateCorruptError with partition and offset, where it is no journal record;
 *   RetryableError where its schema cannot be had now.
 */
export async function journalRecordOf(
  codec: Pick<Codec, "decodeJournal" | "pending">,
  partition: number,
  { offset, value }: Pick<LogRecord, "offset" | "value">,
): Promise<JournalRecord> {
  const location = `(partition ${partition}, offset ${offset})`;
  const context = { partition, offset };
  if (value === null) {
    throw new StateCorruptError(`the journal has an empty record ${location}`, { context });
  }
  const pending = codec.pending?.(value) ?? null;
  if (pending !== null) await pending;
  try {
    return codec.decodeJournal(value);
  } catch (error) {
    if (!(error instanceof StateCorruptError)) throw error;
    const options = { cause: error, context: { ...error.context, ...context } };
    throw new StateCorruptError(`${error.message} ${location}`, options);
  }
}

/** Whether a record may be valid but was written with a schema registry that is not configured. */
export function needsRegistry(error: StateCorruptError): boolean {
  return error.context["needsRegistry"] === true;
}

/**
 * The journal of a partition from an offset up to an end, in stretches.
 * @throws as `readStretch`; StateCorruptError also where the log ends before that end.
 */
export async function* readJournal(
  log: Log,
  codec: Codec,
  partition: number,
  fromOffset: number,
  endOffset: number,
  onUnreadable?: OnUnreadable,
): AsyncGenerator<readonly JournalEntry[]> {
  const source = { log, codec, partition };
  let offset = fromOffset;
  while (offset < endOffset) {
    const { entries, nextOffset } = await readStretch(source, offset, endOffset, onUnreadable);
    if (nextOffset <= offset) {
      throw new StateCorruptError(`the journal ends at ${offset}, before ${endOffset}`, {
        context: { partition, offset, endOffset },
      });
    }
    yield entries;
    offset = nextOffset;
  }
}
