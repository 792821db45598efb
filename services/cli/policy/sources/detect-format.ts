/** Recognizes the format of tool definitions. */
import type { ImportFormat } from "../import/import-tools.ts";
import { isMap, listIn } from "../import/tool-definition.ts";

/** Null: it is none of the formats. */
export function detectFormat(json: unknown): ImportFormat | null {
  if (isMap(json) && json["openapi"] !== undefined) return "openapi";
  const inner = isMap(json) && isMap(json["result"]) ? json["result"] : json;
  const list = listIn(inner, "tools", "functions");
  if (list === null) return null;
  for (const entry of list) {
    if (!isMap(entry)) continue;
    if (isMap(entry["function"]) || entry["parameters"] !== undefined) return "openai";
    if (entry["input_schema"] !== undefined) return "anthropic";
    if (entry["inputSchema"] !== undefined || entry["annotations"] !== undefined) return "mcp";
    if (entry["schema"] !== undefined || entry["readOnly"] !== undefined) return "tools";
    if (entry["type"] === "function") return "openai";
  }
  return list.length > 0 ? "mcp" : null;
}
