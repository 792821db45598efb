/**
 * Detects entries of another format than the requested one. A reader ignores what it does not
 * expect, so such an entry would give a tool without its schema and hints: a laxer policy.
 */
import { printable } from "../../output/printable.ts";
import { isMap, type JsonMap } from "./tool-definition.ts";

/** Formats that are lists of tools, and the key of a tool's schema in each. */
const SCHEMA_KEYS = {
  tools: "schema",
  mcp: "inputSchema",
  openai: "parameters",
  anthropic: "input_schema",
} as const;

type ListFormat = keyof typeof SCHEMA_KEYS;

const FORMATS = Object.keys(SCHEMA_KEYS) as readonly ListFormat[];
const NAME_CHARACTERS = 100;

/**
 * The problem with the first entry that has no schema of this format but a sign of another; null if
 * there is none.
 */
export function foreignEntryIn(list: readonly unknown[], format: ListFormat): string | null {
  const own = SCHEMA_KEYS[format];
  for (const [index, entry] of list.entries()) {
    if (!isMap(entry)) continue;
    const said = format === "openai" && isMap(entry["function"]) ? entry["function"] : entry;
    const mark = isSaid(said[own]) ? null : markOfAnother(said, format);
    if (mark === null) continue;
    const name = nameOf(entry, index);
    return `${name} has ${mark.text} and no \`${own}\`: it looks like ${mark.format}, not ${format}`;
  }
  return null;
}

type Mark = { readonly text: string; readonly format: ListFormat };

function markOfAnother(entry: JsonMap, format: ListFormat): Mark | null {
  const other = FORMATS.find((one) => one !== format && isSaid(entry[SCHEMA_KEYS[one]]));
  if (other !== undefined) return { text: `\`${SCHEMA_KEYS[other]}\``, format: other };
  if (format === "openai") return null;
  if (isMap(entry["function"])) return { text: "`function`", format: "openai" };
  // A function without parameters in the responses API.
  return entry["type"] === "function" ? { text: "`type: function`", format: "openai" } : null;
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function nameOf(entry: JsonMap, index: number): string {
  const inner = isMap(entry["function"]) ? entry["function"]["name"] : undefined;
  const name = entry["name"] ?? inner;
  return typeof name === "string" ? `\`${printable(name, NAME_CHARACTERS)}\`` : `entry #${index}`;
}
