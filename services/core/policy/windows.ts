/**
 * Windows and cache times for tools without their own: `tools`, then the blocks, then the preset.
 */
import type { PolicyDocument } from "./document.ts";

/** The preset's windows (docs/policy.md): duplicates 5 minutes, read cache 60 seconds. */
const WINDOW_MS = 300_000;
const CACHE_MS = 60_000;

export interface Windows {
  readonly windowMs: number;
  readonly cacheMs: number;
  /** Whether a cache time was written, or follows from `tool_deduplication`. */
  readonly cacheWritten: boolean;
  readonly scope: "turn" | "conversation";
}

/**
 * Whether `tool_deduplication` says what a duplicate is: an empty block does, as published. A threshold of its loops,
 * or a note, written alone moves no window.
 */
export function remembersTurns({ tool_deduplication: byTurn }: PolicyDocument): boolean {
  if (byTurn === undefined) return false;
  if (Object.keys(byTurn).length === 0) return true;
  return byTurn.enabled !== undefined || byTurn.exact_duplicate_threshold !== undefined;
}

/**
 * `wholeTurnMs`: `tool_deduplication` remembers for a turn, however long it is. A window of that
 * length ends with the conversation at the latest.
 */
export function windowsOf(document: PolicyDocument, wholeTurnMs: number): Windows {
  const { tools, deduplication, tool_deduplication: byTurn } = document;
  const window = tools?.dedupe_window_s;
  const cache = tools?.cache_ttl_s;
  const writtenWindow = window === undefined ? deduplication?.window_ms : window * 1_000;
  const writtenCache = cache === undefined ? deduplication?.cache_ttl_ms : cache * 1_000;
  const isByTurn = remembersTurns(document);
  const turnOnly = isByTurn && byTurn?.enabled !== false;
  return {
    windowMs: writtenWindow ?? (turnOnly ? wholeTurnMs : WINDOW_MS),
    cacheMs: writtenCache ?? (turnOnly ? wholeTurnMs : CACHE_MS),
    cacheWritten: writtenCache !== undefined || turnOnly,
    scope: deduplication?.scope ?? (isByTurn ? "turn" : "conversation"),
  };
}
