/**
 * Finds records in the journal that memory does not have (any more), newest first.
 *
 * SEARCH-1 all searches of a process together block the event loop for one slice at a time: a log
 *   in this process answers synchronously, and the journal is long.
 * SEARCH-2 a search that was given up ends with its slice.
 */

import { FatalError } from "../../runtime/errors.ts";
import type { JournalRecord } from "../../runtime/journal.ts";
import type { Codec, Log, LogRecord, ReadResult } from "../../runtime/ports.ts";
import { journalRecordOf } from "../../runtime/read-journal.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";

const WINDOW_RECORDS = 1_000;
/** Size of one read; an embedded log does not yield within it. */
const READ_BYTES = 256 * 1024;
/** Half of what a person would notice: one read or a large record comes on top of it. */
const SLICE_MS = 10;

export type Journal = { readonly log: Log; readonly codec: Codec };

export type Search<T> = {
  readonly find: (record: JournalRecord, position: JournalPosition) => T | undefined;
  /** Throws if nobody waits for the search any more. */
  readonly assertWanted: () => void;
};

/**
 * The match, and the position from which the journal was not searched: later records were journaled
 * after the search began.
 */
export type SearchResult<T> = { readonly match: T; readonly since: JournalPosition };

/** Undefined if retention has deleted it. */
export async function readJournalRecord(
  { log, codec }: Journal,
  position: JournalPosition,
): Promise<JournalRecord | undefined> {
  const { offset } = position;
  const match = await recordAt(log, position);
  if (match === undefined || match.offset !== offset || match.value === null) return undefined;
  return await journalRecordOf(codec, position.partition, match);
}

async function recordAt(
  log: Log,
  { partition, offset }: JournalPosition,
): Promise<LogRecord | undefined> {
  try {
    const limits = { recordsMax: 1, bytesMax: 1 };
    const { records } = await log.read(JOURNAL_TOPIC, partition, offset, limits);
    return records[0];
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** The newest match of the first partition that has one. */
export async function searchJournal<T>(
  journal: Journal,
  search: Search<T>,
): Promise<SearchResult<T> | undefined> {
  for (let partition = 0; partition < journal.log.partitions; partition += 1) {
    const { match, since } = await searchPartition(journal, { partition, offset: 0 }, search);
    if (match !== undefined) return { match, since };
  }
  return undefined;
}

/** The newest match from a position on. */
export async function searchPartition<T>(
  journal: Journal,
  { partition, offset }: JournalPosition,
  search: Search<T>,
): Promise<SearchResult<T | undefined>> {
  const { log } = journal;
  const start = Math.max(offset, await log.startOffset(JOURNAL_TOPIC, partition));
  const end = await log.endOffset(JOURNAL_TOPIC, partition);
  const since = { partition, offset: end };
  for (let to = end; to > start; to -= WINDOW_RECORDS) {
    const from = Math.max(start, to - WINDOW_RECORDS);
    const records = await readWindow(journal, { partition, offset: from }, to, search);
    const match = await searchWindow(journal, partition, records, search);
    if (match !== undefined) return { match, since };
  }
  return { match: undefined, since };
}

async function searchWindow<T>(
  { codec }: Journal,
  partition: number,
  records: readonly LogRecord[],
  search: Search<T>,
): Promise<T | undefined> {
  for (let at = records.length - 1; at >= 0; at -= 1) {
    const record = records[at] as LogRecord;
    const { offset, value } = record;
    if (value === null) continue;
    await pause(search);
    const said = await journalRecordOf(codec, partition, record);
    const match = search.find(said, { partition, offset });
    if (match !== undefined) return match;
  }
  return undefined;
}

/** Oldest first. */
async function readWindow(
  { log }: Journal,
  { partition, offset }: JournalPosition,
  end: number,
  search: Search<unknown>,
): Promise<readonly LogRecord[]> {
  const window: LogRecord[] = [];
  for (let next = offset; next < end; ) {
    await pause(search);
    const { records, nextOffset } = await readFrom(log, { partition, offset: next });
    if (nextOffset <= next) break;
    for (const record of records) if (record.offset < end) window.push(record);
    next = nextOffset;
  }
  return window;
}

/** Retention continues during a search: deleted records are skipped. */
async function readFrom(log: Log, { partition, offset }: JournalPosition): Promise<ReadResult> {
  try {
    const limits = { recordsMax: WINDOW_RECORDS, bytesMax: READ_BYTES };
    return await log.read(JOURNAL_TOPIC, partition, offset, limits);
  } catch (error) {
    const start = isGone(error) ? await log.startOffset(JOURNAL_TOPIC, partition) : offset;
    if (start <= offset) throw error;
    return { records: [], nextOffset: start, endOffset: start };
  }
}

function isGone(error: unknown): boolean {
  return error instanceof FatalError && error.code === "input_out_of_reach";
}

let sliceEndMs = 0;
let turn: Promise<void> | undefined;

/** SEARCH-1, SEARCH-2: yields to the event loop once the searches have used their slice. */
async function pause({ assertWanted }: Search<unknown>): Promise<void> {
  if (turn === undefined && performance.now() >= sliceEndMs) {
    turn = new Promise((resolve) => {
      setImmediate(() => {
        turn = undefined;
        sliceEndMs = performance.now() + SLICE_MS;
        resolve();
      });
    });
  }
  if (turn !== undefined) await turn;
  assertWanted();
}

/** Partition and offset of a record of the journal. */
export type JournalPosition = { readonly partition: number; readonly offset: number };
