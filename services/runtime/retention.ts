/**
 * What a log may delete. Pure: an adapter lists what it has, this says how far its start may move.
 *
 * R1 an input is never deleted before its journal record exists.
 * R2 the journal keeps its last record whatever its age, and at least one record that is older than
 *    the time to keep: whoever reads from the log's start can see that nothing younger is gone.
 */
import { INPUT_TOPICS, JOURNAL_TOPIC, type PerInput, type Topic } from "./topics.ts";

/** Records that were appended together: the unit in which a log deletes. Oldest first. */
export type LogSpan = {
  readonly baseOffset: number;
  /** Offset after the last record of the span. */
  readonly nextOffset: number;
  readonly appendTimeMs: number;
  readonly bytes: number;
};

export type RetentionPolicy = {
  /** How long the journal and the inputs are kept; see `journalKeepMsMin`. */
  readonly keepMs: number;
  /** Bytes a topic-partition may hold beyond what the rules need; oldest go first. Absent: no limit. */
  readonly bytesMax?: number;
};

const DAY_MS = 86_400_000;

/** The shortest time that a journal may be kept: a conversation's life, the longest hold, one day. */
export function journalKeepMsMin(limits: {
  readonly maxAgeMs: number;
  readonly longestHoldMs: number;
}): number {
  return limits.maxAgeMs + limits.longestHoldMs + DAY_MS;
}

/** A partition without a journal record for this long gets one with empty events. */
export function idleRecordAfterMs(keepMs: number): number {
  return Math.floor(keepMs / 4);
}

/** The offset that the start of a topic-partition may move to; the present start if nothing may go. */
export function trimTo(
  topic: Topic,
  spans: readonly LogSpan[],
  policy: RetentionPolicy,
  nowMs: number,
  consumed: PerInput,
): number {
  const first = spans[0];
  if (first === undefined) return 0;
  const cutMs = nowMs - policy.keepMs;
  const isInput = (INPUT_TOPICS as readonly string[]).includes(topic);
  const limitOffset = isInput ? consumed[topic as keyof PerInput] : Number.MAX_SAFE_INTEGER;
  let excessBytes = excess(spans, policy);
  let start = first.baseOffset;
  for (const [index, span] of spans.entries()) {
    if (span.nextOffset > limitOffset) break;
    const after = spans[index + 1];
    const tooOld = topic === JOURNAL_TOPIC ? isOld(after, cutMs) : span.appendTimeMs <= cutMs;
    const tooMuch = topic !== JOURNAL_TOPIC && excessBytes > 0;
    if (!tooOld && !tooMuch) break;
    start = span.nextOffset;
    excessBytes -= span.bytes;
  }
  return start;
}

function isOld(span: LogSpan | undefined, cutMs: number): boolean {
  return span !== undefined && span.appendTimeMs <= cutMs;
}

function excess(spans: readonly LogSpan[], policy: RetentionPolicy): number {
  if (policy.bytesMax === undefined) return 0;
  let total = 0;
  for (const span of spans) total += span.bytes;
  return total - policy.bytesMax;
}
