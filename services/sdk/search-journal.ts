/** Finds in the journal what memory does not have (any more), newest first. */
import { FatalError } from "../runtime/errors.ts";
import type { JournalRecord } from "../runtime/journal.ts";
import type { Codec, Log, LogRecord } from "../runtime/ports.ts";
import { JOURNAL_TOPIC } from "../runtime/topics.ts";
import type { JournalPlace } from "./known-calls.ts";

const WINDOW_RECORDS = 1_000;
const WINDOW_BYTES = 64 * 1024 * 1024;

export type Journal = { readonly log: Log; readonly codec: Codec };

/** Undefined where it is gone by retention. */
export async function readJournalRecord(
  { log, codec }: Journal,
  place: JournalPlace,
): Promise<JournalRecord | undefined> {
  const { offset } = place;
  const found = await recordAt(log, place);
  if (found === undefined || found.offset !== offset || found.value === null) return undefined;
  await codec.pending?.(found.value);
  return codec.decodeJournal(found.value);
}

async function recordAt(
  log: Log,
  { partition, offset }: JournalPlace,
): Promise<LogRecord | undefined> {
  try {
    const limits = { recordsMax: 1, bytesMax: 1 };
    const { records } = await log.read(JOURNAL_TOPIC, partition, offset, limits);
    return records[0];
  } catch (error) {
    if (error instanceof FatalError && error.code === "input_out_of_reach") return undefined;
    throw error;
  }
}

/** The newest finding of each partition that `find` gives; the first there is. */
export async function searchJournal<T>(
  journal: Journal,
  find: (record: JournalRecord, place: JournalPlace) => T | undefined,
): Promise<T | undefined> {
  for (let partition = 0; partition < journal.log.partitions; partition += 1) {
    const found = await searchPartition(journal, { partition, offset: 0 }, find);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The newest finding from a place on. */
export async function searchPartition<T>(
  journal: Journal,
  { partition, offset }: JournalPlace,
  find: (record: JournalRecord, place: JournalPlace) => T | undefined,
): Promise<T | undefined> {
  const { log } = journal;
  const start = Math.max(offset, await log.startOffset(JOURNAL_TOPIC, partition));
  let end = await log.endOffset(JOURNAL_TOPIC, partition);
  while (end > start) {
    const from = Math.max(start, end - WINDOW_RECORDS);
    for (const { record, place } of await readWindow(journal, partition, from, end)) {
      const found = find(record, place);
      if (found !== undefined) return found;
    }
    end = from;
  }
  return undefined;
}

type Entry = { readonly record: JournalRecord; readonly place: JournalPlace };

/** Newest first. */
async function readWindow(
  { log, codec }: Journal,
  partition: number,
  from: number,
  end: number,
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  const limits = { recordsMax: WINDOW_RECORDS, bytesMax: WINDOW_BYTES };
  let offset = from;
  while (offset < end) {
    const { records, nextOffset } = await log.read(JOURNAL_TOPIC, partition, offset, limits);
    if (nextOffset <= offset) break;
    for (const { offset: at, value } of records) {
      if (at >= end || value === null) continue;
      await codec.pending?.(value);
      entries.push({ record: codec.decodeJournal(value), place: { partition, offset: at } });
    }
    offset = nextOffset;
  }
  return entries.reverse();
}
