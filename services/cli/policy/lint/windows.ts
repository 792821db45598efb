/**
 * Duplicate windows, which apply to writes only: a read is answered from memory for its cache time.
 */
import type { PolicyDocument } from "../../../core/policy/document.ts";
import { windowsOf } from "../../../core/policy/windows.ts";
import { declaresRead } from "./declares-read.ts";
import type { LintRule, Report } from "./finding.ts";

export const lintWindows: LintRule = (document, report) => {
  for (const [name, tool] of Object.entries(document.tool_schemas ?? {})) {
    if (tool.dedupe_window_s === undefined || tool.variants !== undefined) continue;
    if (tool.commands !== undefined || !declaresRead(tool)) continue;
    const message =
      "`dedupe_window_s` does nothing here: how long a read is answered from memory is its `cache_ttl_s`";
    const remedy = `write \`cache_ttl_s: ${tool.dedupe_window_s}\`, or remove it`;
    report("warning", "idle-key", ["tool_schemas", name, "dedupe_window_s"], message, remedy);
  }
  lintShortWindow(document, report);
};

/** The author of a window in seconds does not expect the default of a minute to apply. */
function lintShortWindow(document: PolicyDocument, report: Report): void {
  const { windowMs, cacheMs, cacheWritten } = windowsOf(document, Number.POSITIVE_INFINITY);
  if (cacheWritten || windowMs >= cacheMs) return;
  const inTools = document.tools?.dedupe_window_s !== undefined;
  const path = inTools ? ["tools", "dedupe_window_s"] : ["deduplication", "window_ms"];
  const message = `ends after ${windowMs / 1_000} s for writes; reads are answered from memory for ${cacheMs / 1_000} s all the same`;
  const remedy = inTools ? "write `cache_ttl_s`, too" : "write `cache_ttl_ms`, too";
  report("warning", "short-window", path, message, remedy);
}
