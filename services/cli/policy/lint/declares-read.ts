import type { ToolDocument } from "../../../core/policy/document.ts";

/** Whether a tool's entry makes it a read, whatever tier matches it. */
export function declaresRead(tool: ToolDocument): boolean {
  const { read_only, reads, polling, volatile, effects = [], side_effect_resource } = tool;
  if (read_only !== undefined) return read_only;
  if (side_effect_resource !== undefined) return false;
  if (effects.some(({ kind }) => kind !== "read")) return false;
  return reads !== undefined || polling !== undefined || volatile === true;
}
