/**
 * Checks the store's file before the store maps it into memory. A mapped file that is no store, or
 * that is truncated, would end the process instead of raising an error.
 */
import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readSync } from "node:fs";
import { FatalError } from "../../runtime/errors.ts";

const PAGE_HEADER_BYTES = 24;
const META_MAGIC = 0xbeefc0de;
const META_VERSION = 2;
const META_BYTES = 160;

type Meta = { readonly pageBytes: number; readonly lastPage: number; readonly txn: number };

/**
 * `short`: the file ended before its last page. It was filled up with zeros, and must be read once
 * as a whole before it is used.
 * @throws FatalError `log_corrupt` where it is no file of the store.
 */
export function inspectFile(path: string): "absent" | "whole" | "short" {
  if (!existsSync(path)) return "absent";
  const file = openSync(path, "r+");
  try {
    const size = fstatSync(file).size;
    if (size === 0) return "absent";
    const meta = newestMeta(file, path);
    const expected = (meta.lastPage + 1) * meta.pageBytes;
    if (size >= expected) return "whole";
    ftruncateSync(file, expected);
    return "short";
  } finally {
    closeSync(file);
  }
}

function newestMeta(file: number, path: string): Meta {
  const first = readMeta(file, 0);
  const second = first === undefined ? undefined : readMeta(file, first.pageBytes);
  if (first === undefined || second === undefined) {
    throw new FatalError(
      "log_corrupt",
      `\`${path}\` is damaged or not a log of callgate: restore it from a backup, or move the ` +
        "directory away to start with an empty one",
    );
  }
  return second.txn > first.txn ? second : first;
}

function readMeta(file: number, position: number): Meta | undefined {
  const bytes = Buffer.alloc(META_BYTES);
  if (readSync(file, bytes, 0, META_BYTES, position) < META_BYTES) return undefined;
  const at = PAGE_HEADER_BYTES;
  if (bytes.readUInt32LE(at) !== META_MAGIC) return undefined;
  if (bytes.readUInt32LE(at + 4) !== META_VERSION) return undefined;
  const pageBytes = bytes.readUInt32LE(at + 24);
  const lastPage = Number(bytes.readBigUInt64LE(at + 120));
  const txn = Number(bytes.readBigUInt64LE(at + 128));
  const isPageSize = pageBytes >= 512 && pageBytes <= 65_536 && (pageBytes & (pageBytes - 1)) === 0;
  return isPageSize && lastPage < Number.MAX_SAFE_INTEGER / pageBytes
    ? { pageBytes, lastPage, txn }
    : undefined;
}
