import { getHeapStatistics } from "node:v8";

const SHARE = 1 / 4;

/** Bytes for conversations where nothing else is configured: a quarter of what the process may have. */
export function defaultStateMemory(): number {
  return Math.floor(getHeapStatistics().heap_size_limit * SHARE);
}
