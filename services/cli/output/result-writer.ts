/**
 * Where a command's result goes: stdout, or the file of `--out`. Opening that file empties it, so a
 * file that must not be lost is rejected first.
 */
import { existsSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { resolve } from "node:path";
import { usageError } from "../../process/exit-error.ts";
import { fileError } from "../../process/text-files.ts";
import type { Terminal } from "./terminal.ts";

interface ResultWriter {
  readonly write: (text: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

const PIECE_CHARACTERS = 65_536;

/** Buffers the output. @throws ExitError: the file cannot be written. */
export async function openResult(
  terminal: Terminal,
  path: string | undefined,
): Promise<ResultWriter> {
  const file = path === undefined ? undefined : await openFile(path);
  let waiting = "";
  const send = async () => {
    const text = waiting;
    waiting = "";
    if (text === "") return;
    if (file === undefined || path === undefined) await terminal.out.write(text);
    else await writeFile(file, path, text);
  };
  return {
    write: async (text) => {
      waiting += text;
      if (waiting.length >= PIECE_CHARACTERS) await send();
    },
    close: async () => {
      try {
        await send();
      } finally {
        await file?.close();
      }
    },
  };
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, "w");
  } catch (error) {
    throw fileError("write", path, error);
  }
}

async function writeFile(file: FileHandle, path: string, text: string): Promise<void> {
  try {
    await file.appendFile(text);
  } catch (error) {
    throw fileError("write", path, error);
  }
}

/** @throws ExitError: `out` is one of the files that the command reads. */
export function refuseOverwriting(out: string | undefined, inputs: readonly string[]): void {
  if (out === undefined || !inputs.some((path) => isSameFile(path, out))) return;
  throw usageError(`--out ${out}: is read by this command and would be lost; name another file`);
}

/** The same path, or two links to one file; bigint, because a number cannot hold a 64-bit inode. */
function isSameFile(path: string, other: string): boolean {
  if (resolve(path) === resolve(other)) return true;
  const [one, two] = [path, other].map((at) =>
    statSync(at, { bigint: true, throwIfNoEntry: false }),
  );
  // A terminal is one device for reading and writing, and loses nothing.
  if (one === undefined || two === undefined || !one.isFile()) return false;
  return one.dev === two.dev && one.ino === two.ino;
}

/** For results that their owner edits by hand. @throws ExitError: `out` exists already. */
export function refuseExisting(out: string | undefined): void {
  if (out === undefined || !existsSync(out)) return;
  throw usageError(`${out} already exists: name another file, or remove it`);
}
