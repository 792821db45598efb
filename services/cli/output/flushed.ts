import type { Writable } from "node:stream";

/** Resolves when everything written so far has left the process. */
export function flushed(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed) resolve();
    else stream.write("", () => resolve());
  });
}
