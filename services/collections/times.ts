/**
 * Times of calls, oldest first, which rate windows count. A window of a thousand is updated at each
 * call, so versions share one array, the line. Nothing in it ever changes, and each version knows
 * its range: old times leave at its head, the latest version appends in place, another copies its
 * range.
 */
export interface Times {
  readonly line: number[];
  /** This version's range of the line. */
  readonly from: number;
  readonly to: number;
  /** Whether no time in it is later than the one after it. */
  readonly inOrder: boolean;
}

/**
 * A line up to this length is copied for each push: an array that grows in place has several times
 * the capacity.
 */
const SHORT = 8;

/** Dropped times are removed from the line once they are this many and more than the rest. */
const LEFT_MOST = 64;

export const NO_TIMES: Times = { line: [], from: 0, to: 0, inOrder: true };

export function timesFrom(list: readonly number[]): Times {
  const inOrder = list.every((time, at) => at === 0 || (list[at - 1] as number) <= time);
  return { line: list.slice(), from: 0, to: list.length, inOrder };
}

export function timesList({ line, from, to }: Times): number[] {
  return line.slice(from, to);
}

/** The times after `sinceMs`, and one more: the last `most` of them. */
export function timesPush(times: Times, atMs: number, sinceMs: number, most: number): Times {
  const { line, to } = times;
  const isLate = to > times.from && (line[to - 1] as number) > atMs;
  if (isLate || !times.inOrder) {
    const recent = timesList(times).filter((time) => time > sinceMs);
    return timesFrom([...recent, atMs].slice(-most));
  }
  let { from } = times;
  while (from < to && (line[from] as number) <= sinceMs) from += 1;
  if (to - from >= most) from = to - most + 1;
  return appended(line, from, to, atMs);
}

function appended(line: number[], from: number, to: number, atMs: number): Times {
  const isLatest = line.length === to && to - from >= SHORT;
  if (isLatest && (from <= LEFT_MOST || from <= to - from)) {
    line.push(atMs);
    return { line, from, to: to + 1, inOrder: true };
  }
  // `concat`, because a push to a copy allocates half as much again.
  const next = line.slice(from, to).concat([atMs]);
  return { line: next, from: 0, to: next.length, inOrder: true };
}

/** The times without the last one that equals `atMs`, if there is one. */
export function timesWithout(times: Times, atMs: number): Times {
  const list = timesList(times);
  const at = list.lastIndexOf(atMs);
  if (at < 0) return times;
  list.splice(at, 1);
  return { line: list, from: 0, to: list.length, inOrder: times.inOrder };
}
