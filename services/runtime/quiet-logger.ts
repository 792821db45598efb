import type { Logger, Metrics } from "./ports.ts";

function nothing(): void {
  // A caller who wants logs passes another logger.
}

/** Logs nothing: the default of a library inside another program. */
export const quietLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Counts nothing. */
export const noMetrics: Metrics = { count: nothing, observe: nothing };
