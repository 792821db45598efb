/**
 * Reads lines of a file or of stdin, plain or gzip. Memory holds one line and the read-ahead
 * buffer, however long the file is.
 */
import { createReadStream } from "node:fs";
import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { usageError } from "../../process/exit-error.ts";
import { fileError, isFileError } from "../../process/text-files.ts";

interface InputLine {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

interface LineSource {
  /** `-` is stdin. */
  readonly path: string;
  /** Called with the size of every chunk as stored, before decompression. */
  readonly onBytes?: (bytes: number) => void;
}

export const STDIN = "-";

const GZIP_MAGIC = [0x1f, 0x8b] as const;
const LINE_BYTES_MAX = 256 * 1024 * 1024;

export function nameOfInput(path: string): string {
  return path === STDIN ? "stdin" : path;
}

/** Skips blank lines. @throws ExitError: unreadable file, broken gzip, line too long. */
export async function* readLines(source: LineSource): AsyncGenerator<InputLine> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const name = nameOfInput(source.path);
  let number = 0;
  try {
    for await (const line of splitLines(unpacked(stored(source)), LINE_BYTES_MAX)) {
      if (line.bytes === null) throw new EndlessLine();
      number = line.number;
      const text = decoder.decode(line.bytes);
      if (text.trim() !== "") yield { text, number };
    }
  } catch (error) {
    throw readProblem(error, name, number);
  }
}

async function* stored({ path, onBytes }: LineSource): AsyncGenerator<Buffer> {
  const input: AsyncIterable<Buffer> = path === STDIN ? process.stdin : createReadStream(path);
  for await (const chunk of input) {
    onBytes?.(chunk.length);
    yield chunk;
  }
}

async function* unpacked(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const head: Buffer[] = [];
  let length = 0;
  while (length < GZIP_MAGIC.length) {
    const next = await chunks.next();
    if (next.done === true) break;
    head.push(next.value);
    length += next.value.length;
  }
  const first = Buffer.concat(head);
  const packed = GZIP_MAGIC.every((byte, at) => first[at] === byte);
  const whole = prepended(first, chunks);
  yield* packed ? gunzipped(whole) : whole;
}

async function* prepended(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first;
  yield* rest;
}

async function* gunzipped(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip: AsyncIterable<Buffer> = pipeline(
    Readable.from(chunks, { objectMode: false }),
    createGunzip(),
    // The reader of the stream gets the error; the callback only keeps it from being thrown.
    () => undefined,
  );
  yield* gunzip;
}

class EndlessLine extends Error {}

/** `number`: of the last complete line. */
function readProblem(error: unknown, name: string, number: number): unknown {
  if (error instanceof EndlessLine) {
    const most = `${LINE_BYTES_MAX / 1024 / 1024} MiB`;
    return usageError(`${name}:${number + 1}: a line is longer than ${most}; write one a line`);
  }
  if (!(error instanceof Error) || !("code" in error)) return error;
  const code = String(error.code);
  if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") {
    return usageError(`${name}:${number}: the line is not UTF-8 text; convert the file to UTF-8`);
  }
  if (code.startsWith("Z_")) {
    const after = `after line ${number}`;
    return usageError(
      `${name}: the gzip data is damaged ${after}; fetch or compress the file again`,
    );
  }
  return isFileError(error) ? fileError("read", name, error) : error;
}

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
