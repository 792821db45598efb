/**
 * Positions in the feed as text: for each partition, separated by commas, the offset of the last
 * record that was sent, and `.n` if that was only its events up to the n-th.
 */

/** Next to read: from this event (counted from 0) of the record at the offset. */
export type PartitionPosition = { readonly offset: number; readonly event: number };

const PART = /^(-1|\d{1,16})(?:\.(\d{1,9}))?$/;

/** Null: it is no position in a journal with so many partitions. */
export function parsePosition(
  text: string,
  partitions: number,
): readonly PartitionPosition[] | null {
  const parts = text.split(",").map(parsePart);
  const isWhole = parts.length === partitions && parts.every((part) => part !== null);
  return isWhole ? (parts as readonly PartitionPosition[]) : null;
}

function parsePart(text: string): PartitionPosition | null {
  const [, offset, event] = PART.exec(text) ?? [];
  if (offset === undefined || !Number.isSafeInteger(Number(offset))) return null;
  return event === undefined
    ? { offset: Number(offset) + 1, event: 0 }
    : { offset: Number(offset), event: Number(event) + 1 };
}

export function positionText(positions: readonly PartitionPosition[]): string {
  return positions
    .map(({ offset, event }) => (event === 0 ? `${offset - 1}` : `${offset}.${event - 1}`))
    .join(",");
}
