/**
 * Lines of a file or of stdin, plain or gzip, one after the other: memory holds one line (and what
 * is read ahead), however long the file is.
 */
import { createReadStream } from "node:fs";
import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { usageError } from "../../process/exit-error.ts";
import { fileError, isFileError } from "../../process/text-files.ts";
import { splitLines } from "./split-lines.ts";

export interface InputLine {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

export interface LineSource {
  /** `-` is stdin. */
  readonly path: string;
  /** Told the size of every chunk as it is stored, before it is unpacked. */
  readonly onBytes?: (bytes: number) => void;
}

export const STDIN = "-";

const GZIP_MAGIC = [0x1f, 0x8b] as const;
const LINE_BYTES_MAX = 256 * 1024 * 1024;

export function nameOfInput(path: string): string {
  return path === STDIN ? "stdin" : path;
}

/** Blank lines are left out. @throws ExitError: unreadable file, broken gzip, endless line. */
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
    // The reader of the stream gets the error; the callback is what keeps it from being thrown.
    () => undefined,
  );
  yield* gunzip;
}

class EndlessLine extends Error {}

/** `number`: of the last line that was read whole. */
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
    return usageError(`${name}: the gzip data is broken ${after}; fetch or pack the file again`);
  }
  return isFileError(error) ? fileError("read", name, error) : error;
}
