/** Where a command's result goes: stdout, or the file that `--out` names. */
import { type FileHandle, open } from "node:fs/promises";
import { fileError } from "../../process/text-files.ts";
import type { Terminal } from "./terminal.ts";

export interface ResultWriter {
  readonly write: (text: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

const PIECE_CHARACTERS = 65_536;

/** Writes in larger pieces. @throws ExitError: the file cannot be written. */
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
