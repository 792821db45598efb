/** Reads the journal for commands: an invalid record is reported and skipped. */
import { StateCorruptError } from "../../runtime/errors.ts";
import type { JournalRecord } from "../../runtime/journal.ts";
import type { LogRecord } from "../../runtime/ports.ts";
import { journalRecordOf, needsRegistry } from "../../runtime/read-journal.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";
import { recordsFrom, type Source } from "./open-source.ts";

type Journaled = {
  readonly partition: number;
  readonly offset: number;
  readonly record: JournalRecord;
};

/** Sources that were checked and need no schema registry. */
const readable = new WeakSet<Source>();

/**
 * If no partition begins with a readable record, the likely cause is a registry that was not
 * configured, and not a damaged journal.
 *
 * @throws StateCorruptError, and PipelineError if the log or a schema is unavailable.
 */
export async function assertReadable(source: Source): Promise<void> {
  let needed: StateCorruptError | undefined;
  for (let partition = 0; partition < source.log.partitions; partition += 1) {
    const error = await beginningOf(source, partition);
    if (error === null) {
      readable.add(source);
      return;
    }
    if (error !== undefined && needsRegistry(error)) needed ??= error;
  }
  if (needed !== undefined) throw needed;
}

/** Null: its first record can be read; undefined: it has no records. */
async function beginningOf(
  source: Source,
  partition: number,
): Promise<StateCorruptError | null | undefined> {
  for await (const first of recordsFrom(source, JOURNAL_TOPIC, partition)) {
    try {
      await journalRecordOf(source.codec, partition, first);
      return null;
    } catch (error) {
      if (error instanceof StateCorruptError) return error;
      throw error;
    }
  }
  return undefined;
}

/**
 * Null: the record is no journal record, which was reported.
 * @throws as `assertReadable`.
 */
export async function readJournaled(
  source: Source,
  partition: number,
  record: LogRecord,
): Promise<JournalRecord | null> {
  try {
    return await journalRecordOf(source.codec, partition, record);
  } catch (error) {
    if (!(error instanceof StateCorruptError)) throw error;
    if (needsRegistry(error) && !readable.has(source)) await assertReadable(source);
    const { offset } = record;
    await source.skipped.tell({ topic: JOURNAL_TOPIC, partition, offset }, error.message);
    return null;
  }
}

/** The journal of one partition, from an offset or its beginning to its current end. */
export async function* journalFrom(
  source: Source,
  partition: number,
  from?: number,
): AsyncGenerator<Journaled> {
  for await (const read of recordsFrom(source, JOURNAL_TOPIC, partition, from)) {
    const record = await readJournaled(source, partition, read);
    if (record !== null) yield { partition, offset: read.offset, record };
  }
}

/** The whole journal up to its current end, partition after partition. */
export async function* journalOf(source: Source): AsyncGenerator<Journaled> {
  for (let partition = 0; partition < source.log.partitions; partition += 1) {
    yield* journalFrom(source, partition);
  }
}
