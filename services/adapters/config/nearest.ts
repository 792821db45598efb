/** A suggestion may differ in one of three characters, so short words need a close match. */
const DISTANCE_SHARE = 3;

/** Returns the candidate that was probably meant, or null where none is similar. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(word.length / DISTANCE_SHARE)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Counts insertions, deletions, replacements and swaps of neighbours between two words. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) row.push(cheapestEdit(a, b, i, j, rows, row));
    rows.push(row);
  }
  return rows[a.length]?.[b.length] as number;
}

function cheapestEdit(
  a: string,
  b: string,
  i: number,
  j: number,
  rows: readonly (readonly number[])[],
  row: readonly number[],
): number {
  const above = rows[i - 1] as readonly number[];
  const replaced = (above[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
  const edited = Math.min(replaced, (above[j] as number) + 1, (row[j - 1] as number) + 1);
  const swaps = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
  return swaps ? Math.min(edited, (rows[i - 2]?.[j - 2] as number) + 1) : edited;
}
