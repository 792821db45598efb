/** The journal as commands read it: a record that is none is told and passed by. */
import type { JournalRecord } from "../../runtime/journal.ts";
import type { LogRecord } from "../../runtime/ports.ts";
import { isUnreadable, journalRecordOf } from "../../runtime/read-journal.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";
import { recordsFrom, type Source } from "./open-source.ts";

export type Journaled = {
  readonly partition: number;
  readonly offset: number;
  readonly record: JournalRecord;
};

/** Null: it is no journal record, which was told. @throws PipelineError where its schema cannot be had now. */
export async function readJournaled(
  { codec, passedBy }: Source,
  partition: number,
  record: LogRecord,
): Promise<JournalRecord | null> {
  try {
    return await journalRecordOf(codec, partition, record);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    const { offset } = record;
    await passedBy.tell({ topic: JOURNAL_TOPIC, partition, offset }, error.message);
    return null;
  }
}

/** The journal of one partition, from an offset or the first there is, up to what is there now. */
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

/** What the journal holds now, partition after partition. */
export async function* journalOf(source: Source): AsyncGenerator<Journaled> {
  for (let partition = 0; partition < source.log.partitions; partition += 1) {
    yield* journalFrom(source, partition);
  }
}
