/**
 * Writes a stream as Parquet files, with one folder for each partition. A file is named after its
 * offsets, so the names show where to go on, and no record is written twice or left out.
 *
 * PARQUET-1 A file appears whole or not at all: it is written under another name, flushed and
 *    renamed.
 * PARQUET-2 Of two files that overlap, the larger one is the merged form of the smaller ones, which
 *    are removed.
 */
import { closeSync, fsyncSync, openSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../system/make-directory.ts";
import { type Duck, literal } from "./connection.ts";

export type SegmentColumn = readonly [name: string, type: string];

type Segment = {
  readonly file: string;
  readonly fromOffset: number;
  readonly nextOffset: number;
};

const NAME = /^(\d{16})-(\d{16})\.parquet$/;
const DIGITS = 16;
/** Number of files in a partition at which they are merged into one. */
const MERGE_AT = 32;
/** A file with this many offsets is not merged again. */
const MERGE_OFFSETS_MAX = 1_000_000;

export class ParquetSegments {
  readonly #directory: string;
  readonly #columns: readonly SegmentColumn[];
  readonly #duck: Duck;
  /** The statement in progress: one runs at a time. */
  #busy: Promise<void> = Promise.resolve();

  /** @param directory created if it does not exist. */
  constructor(directory: string, columns: readonly SegmentColumn[], duck: Duck) {
    this.#directory = directory;
    this.#columns = columns;
    this.#duck = duck;
    makeDirectory(directory);
  }

  /** Returns the offset at which to go on, 0 at first. Removes the partial files of a crash. */
  open(partition: number): number {
    const folder = this.#folder(partition);
    makeDirectory(folder);
    for (const name of readdirSync(folder)) {
      if (!NAME.test(name)) rmSync(join(folder, name), { force: true });
    }
    const remaining = removeRedundant(segmentsIn(folder));
    return remaining.reduce((next, segment) => Math.max(next, segment.nextOffset), 0);
  }

  /** @param rows the rows of the offsets from `fromOffset` to before `nextOffset`, in order. */
  write(
    partition: number,
    rows: readonly object[],
    fromOffset: number,
    nextOffset: number,
  ): Promise<void> {
    const written = this.#busy.then(() => this.#write(partition, rows, fromOffset, nextOffset));
    this.#busy = written.catch(() => undefined);
    return written;
  }

  async #write(
    partition: number,
    rows: readonly object[],
    fromOffset: number,
    nextOffset: number,
  ): Promise<void> {
    const folder = this.#folder(partition);
    const source = join(folder, "rows.ndjson.tmp");
    writeFileSync(source, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const columns = this.#columns.map(([name, type]) => `${literal(name)}: ${literal(type)}`);
    const read = `read_json(${literal(source)}, format = 'newline_delimited', columns = {${columns.join(", ")}})`;
    await this.#copy(`SELECT * FROM ${read}`, folder, fromOffset, nextOffset);
    rmSync(source, { force: true });
    await this.#merge(folder);
  }

  #folder(partition: number): string {
    return join(this.#directory, `partition-${partition}`);
  }

  async #copy(select: string, folder: string, fromOffset: number, nextOffset: number) {
    const aside = join(folder, "segment.tmp");
    await this.#duck.run(
      `COPY (${select}) TO ${literal(aside)} (FORMAT parquet, COMPRESSION zstd)`,
    );
    flush(aside);
    await rename(aside, join(folder, segmentName(fromOffset, nextOffset)));
    flush(folder);
  }

  async #merge(folder: string): Promise<void> {
    const small = segmentsIn(folder).filter(
      ({ fromOffset, nextOffset }) => nextOffset - fromOffset < MERGE_OFFSETS_MAX,
    );
    const first = small[0];
    const last = small[small.length - 1];
    if (small.length < MERGE_AT || first === undefined || last === undefined) return;
    const files = small.map(({ file }) => literal(file)).join(", ");
    // Files of an earlier version have fewer columns; without `union_by_name` the first file's
    // count.
    const read = `read_parquet([${files}], union_by_name = true)`;
    const select = `SELECT * FROM ${read} ORDER BY "offset", "event"`;
    await this.#copy(select, folder, first.fromOffset, last.nextOffset);
    removeRedundant(segmentsIn(folder));
  }
}

/** Lists the files below a directory, for a query. */
export function segmentFiles(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name.startsWith("partition-"))
    .flatMap((entry) => skipRedundant(segmentsIn(join(directory, entry.name))))
    .map(({ file }) => file);
}

/** Sorted by offset; of two that begin together, the longer comes first. */
function segmentsIn(folder: string): readonly Segment[] {
  return readdirSync(folder)
    .flatMap((name) => {
      const [, from, next] = NAME.exec(name) ?? [];
      if (from === undefined || next === undefined) return [];
      const file = join(folder, name);
      return [{ file, fromOffset: Number(from), nextOffset: Number(next) }];
    })
    .sort((a, b) => a.fromOffset - b.fromOffset || b.nextOffset - a.nextOffset);
}

function skipRedundant(segments: readonly Segment[]): readonly Segment[] {
  let reached = -1;
  return segments.filter(({ nextOffset }) => {
    const isNew = nextOffset > reached;
    reached = Math.max(reached, nextOffset);
    return isNew;
  });
}

function removeRedundant(segments: readonly Segment[]): readonly Segment[] {
  const remaining = skipRedundant(segments);
  for (const segment of segments) {
    if (!remaining.includes(segment)) rmSync(segment.file, { force: true });
  }
  return remaining;
}

function segmentName(fromOffset: number, nextOffset: number): string {
  return `${padded(fromOffset)}-${padded(nextOffset)}.parquet`;
}

function padded(offset: number): string {
  return String(offset).padStart(DIGITS, "0");
}

function flush(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
