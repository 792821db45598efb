/**
 * Inputs that were decided before inputs with lower offsets: others must not wait while one
 * conversation or tenant floods a partition.
 *
 * AHEAD-1 every input below the offset to read next is decided, and of the others exactly those in
 *    these ranges. The journal says both: each record has the offset of its input and the offset
 *    to read next.
 */
import type { InputTopic, PerInput } from "./topics.ts";

/** Offsets from the first, up to and without the second. */
export type OffsetRange = readonly [from: number, end: number];

/** Ranges of each topic, in order, disjoint. */
export type DecidedAhead = { readonly [topic in InputTopic]: readonly OffsetRange[] };

export const NOTHING_AHEAD: DecidedAhead = { proposals: [], results: [], verdicts: [] };

/** The ranges after an input is decided; `next`: the offset to read next. */
export function noteDecided(
  ahead: DecidedAhead,
  topic: InputTopic,
  offset: number,
  next: number,
): DecidedAhead {
  const ranges = ahead[topic];
  // Nearly always: nothing is decided ahead.
  if (ranges.length === 0 && offset < next) return ahead;
  const withInput = offset < next ? ranges : insert(ranges, offset);
  const left = withInput.filter(([, end]) => end > next);
  return { ...ahead, [topic]: left };
}

function insert(ranges: readonly OffsetRange[], offset: number): readonly OffsetRange[] {
  const index = indexAfter(ranges, offset);
  const before = ranges[index - 1];
  const after = ranges[index];
  const joinsBefore = before?.[1] === offset;
  const joinsAfter = after?.[0] === offset + 1;
  const from = joinsBefore ? before[0] : offset;
  const end = joinsAfter ? after[1] : offset + 1;
  return [
    ...ranges.slice(0, joinsBefore ? index - 1 : index),
    [from, end],
    ...ranges.slice(joinsAfter ? index + 1 : index),
  ];
}

/** Index of the first range that begins after an offset. */
function indexAfter(ranges: readonly OffsetRange[], offset: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle]?.[0] ?? 0) > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

type Decided = { readonly next: PerInput; readonly ahead: DecidedAhead };

/** Whether an input is decided: it is before the offset to read next, or was decided ahead. */
export function isDecided(decided: Decided, topic: InputTopic, offset: number): boolean {
  return passDecided(decided, topic, offset) > offset;
}

/** The lowest offset from this one on that is not known to be decided. */
export function passDecided({ next, ahead }: Decided, topic: InputTopic, offset: number): number {
  const from = Math.max(offset, next[topic]);
  const ranges = ahead[topic];
  if (ranges.length === 0) return from;
  const range = ranges[indexAfter(ranges, from) - 1];
  return range === undefined ? from : Math.max(from, range[1]);
}

/** The offset after the last input of a topic that is decided. */
export function endOfDecided({ next, ahead }: Decided, topic: InputTopic): number {
  const ranges = ahead[topic];
  return Math.max(next[topic], ranges[ranges.length - 1]?.[1] ?? 0);
}
