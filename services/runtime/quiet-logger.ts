import type { Logger, Metrics } from "./ports.ts";

function nothing(): void {
  // Whoever wants to know hands in a logger of their own.
}

/** Says nothing: for a library inside of somebody else's program. */
export const quietLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Counts nothing. */
export const noMetrics: Metrics = { count: nothing, observe: nothing };
