/** Recognizes the format of tool definitions. */
import type { ImportFormat } from "../import/import-tools.ts";
import { isMap, type JsonMap, listIn } from "../import/tool-definition.ts";

/** Null: it is none of the formats. */
export function detectFormat(json: unknown): ImportFormat | null {
  if (isMap(json) && json["openapi"] !== undefined) return "openapi";
  const inner = isMap(json) && isMap(json["result"]) ? json["result"] : json;
  const list = listIn(inner, "tools", "functions");
  if (list === null) return null;
  const own = list.map((entry) => (isMap(entry) ? formatOfEntry(entry) : null));
  return own.find((format) => format !== null) ?? (list.length > 0 ? "mcp" : null);
}

/** The keys that only tools of one format have. */
const SIGNS: readonly (readonly [ImportFormat, readonly string[]])[] = [
  ["openai", ["function", "parameters"]],
  ["anthropic", ["input_schema"]],
  ["mcp", ["inputSchema", "annotations"]],
  ["tools", ["schema", "readOnly"]],
];

function formatOfEntry(entry: JsonMap): ImportFormat | null {
  const signed = SIGNS.find(([, keys]) => keys.some((key) => entry[key] !== undefined));
  return signed?.[0] ?? (entry["type"] === "function" ? "openai" : null);
}
