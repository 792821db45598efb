/** Splits bytes into lines: memory holds one line, and nothing of one that is too long. */

export interface Line {
  /** Null: longer than allowed; its bytes were dropped. */
  readonly bytes: Buffer | null;
  /** From 1. */
  readonly number: number;
}

const NEWLINE = 0x0a;

export async function* splitLines(
  chunks: AsyncIterable<Buffer>,
  bytesMax: number,
): AsyncGenerator<Line> {
  let number = 1;
  let parts: Buffer[] = [];
  let length = 0;
  const take = (part: Buffer) => {
    length += part.length;
    if (length > bytesMax) parts = [];
    else parts.push(part);
  };
  const end = (): Line => {
    const line = { bytes: length > bytesMax ? null : joined(parts), number };
    number += 1;
    parts = [];
    length = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
      take(chunk.subarray(start, at));
      yield end();
      start = at + 1;
    }
    take(chunk.subarray(start));
  }
  if (length > 0) yield end();
}

function joined(parts: readonly Buffer[]): Buffer {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}
