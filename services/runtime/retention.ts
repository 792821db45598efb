/**
 * What a log may delete. Pure: an adapter lists its records, and this module says how far its start
 * may move.
 *
 * RETENTION-1 an input is never deleted before its journal record exists.
 * RETENTION-2 the journal keeps its last record whatever its age, and at least one record that is
 *    older than the retention time: whoever reads from the log's start can see that nothing younger
 *    is gone.
 */
import { isInputTopic, JOURNAL_TOPIC, type PerInput, type Topic } from "./topics.ts";

/** Records that were appended together: the unit in which a log deletes. Oldest first. */
export type LogSpan = {
  readonly baseOffset: number;
  /** Offset after the last record of the span. */
  readonly nextOffset: number;
  readonly appendTimeMs: number;
  readonly bytes: number;
};

export type RetentionPolicy = {
  /** How long in ms the journal and the inputs are retained; see `journalKeepMsMin`. */
  readonly keepMs: number;
  /**
   * Bytes that a topic-partition may hold beyond what the rules need; the oldest go first. Absent:
   * no limit.
   */
  readonly bytesMax?: number;
};

const DAY_MS = 86_400_000;

/**
 * The shortest retention of a journal in ms: a conversation's life, the longest hold, and one day.
 */
export function journalKeepMsMin(limits: {
  readonly maxAgeMs: number;
  readonly longestHoldMs: number;
}): number {
  return limits.maxAgeMs + limits.longestHoldMs + DAY_MS;
}

/** A partition without a journal record for this many ms gets one without events. */
export function idleRecordAfterMs(keepMs: number): number {
  return Math.floor(keepMs / 4);
}

/** A topic-partition as retention sees it. */
export type RetainedPartition = {
  readonly topic: Topic;
  /** Oldest first; read only as far as something may be deleted. */
  readonly spans: Iterable<LogSpan>;
  /** Bytes of all spans. */
  readonly bytes: number;
  /** Offsets to read next: every input before them has its journal record. */
  readonly consumed: PerInput;
};

/** The offset to which the start of a topic-partition may move; null: nothing may be deleted. */
export function trimTo(
  partition: RetainedPartition,
  policy: RetentionPolicy,
  nowMs: number,
): number | null {
  const { topic } = partition;
  const cutMs = nowMs - policy.keepMs;
  const isJournal = topic === JOURNAL_TOPIC;
  const limitOffset = isInputTopic(topic) ? partition.consumed[topic] : Number.MAX_SAFE_INTEGER;
  let excessBytes = policy.bytesMax === undefined ? 0 : partition.bytes - policy.bytesMax;
  let start: number | null = null;
  let before: LogSpan | undefined;
  for (const span of partition.spans) {
    // A journal record may be deleted only once the one after it is old as well.
    const candidate = isJournal ? before : span;
    before = span;
    if (candidate === undefined) continue;
    const tooOld = span.appendTimeMs <= cutMs;
    const tooMuch = !isJournal && excessBytes > 0;
    if (candidate.nextOffset > limitOffset || !(tooOld || tooMuch)) break;
    start = candidate.nextOffset;
    excessBytes -= candidate.bytes;
  }
  return start;
}
