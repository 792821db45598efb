/** One process at a time writes a directory. */
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { FatalError } from "../../runtime/errors.ts";

/**
 * Gives what lets go of it. A lock whose process is gone is taken over; so is one with our own number,
 * which every container gives its first process.
 * @param role what is done there, for the file's name and the message.
 * @throws FatalError `role_taken` while another process has it.
 */
export function lockDirectory(directory: string, role: string): () => void {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `${role}.lock`);
  for (;;) {
    try {
      const handle = openSync(path, "wx");
      writeSync(handle, String(process.pid));
      closeSync(handle);
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as { code?: string }).code !== "EEXIST") throw error;
    }
    const holder = Number(readHolder(path));
    if (holder !== process.pid && isAlive(holder)) {
      throw new FatalError(
        "role_taken",
        `${directory} is written by the ${role} of process ${holder}: end it, or name another directory`,
      );
    }
    rmSync(path, { force: true });
  }
}

function readHolder(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === "EPERM";
  }
}
