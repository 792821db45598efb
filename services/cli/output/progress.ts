import type { Output } from "./terminal.ts";

const WIDTH = 30;
const EVERY_MS = 100;
export const CLEAR_LINE = "\r\u001b[K";
const MEGABYTE = 1_000_000;

export interface Progress {
  readonly add: (bytes: number) => void;
  /** Removes the bar. */
  readonly end: () => Promise<void>;
}

const NONE: Progress = { add: () => undefined, end: async () => undefined };

/** A bar on a terminal, nothing elsewhere. `total`: bytes; null if unknown. */
export function createProgress(output: Output, total: number | null): Progress {
  if (!output.isTerminal) return NONE;
  let done = 0;
  let drawnAtMs = 0;
  return {
    add: (bytes) => {
      done += bytes;
      const nowMs = performance.now();
      if (nowMs - drawnAtMs < EVERY_MS) return;
      drawnAtMs = nowMs;
      output.write(`${CLEAR_LINE}${bar(done, total)}`).catch(() => undefined);
    },
    end: () => output.write(CLEAR_LINE),
  };
}

function bar(done: number, total: number | null): string {
  const size = `${(done / MEGABYTE).toFixed(1)} MB`;
  if (total === null || total === 0) return `${size} read`;
  const share = Math.min(1, done / total);
  const filled = Math.round(share * WIDTH);
  return `[${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}] ${Math.floor(share * 100)} %, ${size}`;
}
