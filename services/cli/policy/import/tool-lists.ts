/** Formats that are lists of tools: OpenAI, Anthropic, MCP, and recorded worlds. */
import { printable } from "../../output/text.ts";
import {
  isMap,
  type JsonMap,
  listIn,
  type ReadDefinitions,
  type ToolDefinition,
  textOf,
} from "./tool-definition.ts";

/** What the formats of models do not say about a tool. */
const UNSAID = { method: null, readOnly: null, risky: false, effects: [] } as const;

/** Tool definitions of chat completions (`function: {…}`) and of responses (flat). */
export const readOpenai: ReadDefinitions = (json, _options, note) => {
  const list = listIn(json, "tools", "functions");
  if (list === null) return { problem: "expected a list of tools, or a request with `tools`" };
  const foreign = foreignEntryIn(list, "openai");
  if (foreign !== null) return { problem: foreign };
  const definitions: ToolDefinition[] = [];
  list.forEach((entry, index) => {
    const described = functionOf(entry);
    const name = described?.["name"];
    if (described === null || typeof name !== "string") {
      note(openAiName(entry, index), "$", "is not a function and is left out");
      return;
    }
    const schema = described["parameters"];
    definitions.push({ ...UNSAID, name, schema, description: textOf(described["description"]) });
  });
  return definitions;
};

function functionOf(entry: unknown): JsonMap | null {
  if (!isMap(entry)) return null;
  if (isMap(entry["function"])) return entry["function"];
  return entry["type"] === undefined || entry["type"] === "function" ? entry : null;
}

function openAiName(entry: unknown, index: number): string {
  const type = isMap(entry) ? entry["type"] : undefined;
  return typeof type === "string" ? type : `#${index}`;
}

/** Server-side tools have no `input_schema` and are left out. */
export const readAnthropic: ReadDefinitions = (json, _options, note) => {
  const list = listIn(json, "tools");
  if (list === null) return { problem: "expected a list of tools, or a request with `tools`" };
  const foreign = foreignEntryIn(list, "anthropic");
  if (foreign !== null) return { problem: foreign };
  const definitions: ToolDefinition[] = [];
  list.forEach((entry, index) => {
    const name = isMap(entry) ? entry["name"] : undefined;
    if (!isMap(entry) || typeof name !== "string") {
      note(`#${index}`, "$", "has no name and is left out");
    } else if (entry["type"] !== undefined && entry["type"] !== "custom") {
      note(name, "$.type", "is a tool that the service defines; it is left out");
    } else {
      const schema = entry["input_schema"];
      definitions.push({ ...UNSAID, name, schema, description: textOf(entry["description"]) });
    }
  });
  return definitions;
};

/**
 * The answer to an MCP `tools/list`. Annotations are the server's own claims: those of an untrusted
 * server may make a tool stricter, never laxer.
 */
export const readMcp: ReadDefinitions = (json, { trusted }, note) => {
  const list = listIn(isMap(json) && isMap(json["result"]) ? json["result"] : json, "tools");
  if (list === null) return { problem: "expected the result of `tools/list`: a map with `tools`" };
  const foreign = foreignEntryIn(list, "mcp");
  if (foreign !== null) return { problem: foreign };
  if (
    isMap(json) &&
    (json["nextCursor"] ?? (json["result"] as JsonMap | undefined)?.["nextCursor"])
  ) {
    note("*", "$.nextCursor", "more pages follow this one; import them too");
  }
  const definitions: ToolDefinition[] = [];
  list.forEach((entry, index) => {
    if (!isMap(entry) || typeof entry["name"] !== "string") {
      note(`#${index}`, "$", "has no name and is left out");
      return;
    }
    const hints = isMap(entry["annotations"]) ? entry["annotations"] : {};
    const readOnly = hints["readOnlyHint"];
    if (readOnly === true && !trusted) {
      note(entry["name"], "$.annotations.readOnlyHint", "is not trusted; pass --trusted if it is");
    }
    definitions.push({
      name: entry["name"],
      schema: entry["inputSchema"],
      description: textOf(entry["description"]),
      method: null,
      readOnly: readOnly === false ? false : readOnly === true && trusted ? true : null,
      risky: hints["destructiveHint"] === true,
      effects: [],
    });
  });
  return definitions;
};

/** The tool lists of recorded worlds: name, schema, readOnly, mutates. */
export const readTools: ReadDefinitions = (json, _options, note) => {
  const list = listIn(json, "tools");
  if (list === null) return { problem: "expected a list of tools" };
  const foreign = foreignEntryIn(list, "tools");
  if (foreign !== null) return { problem: foreign };
  const definitions: ToolDefinition[] = [];
  list.forEach((entry, index) => {
    if (isMap(entry) && typeof entry["name"] === "string") {
      definitions.push(definition(entry["name"], entry, note));
    } else note(`#${index}`, "$", "has no name and is left out");
  });
  return definitions;
};

function definition(
  name: string,
  entry: JsonMap,
  note: (tool: string, path: string, message: string) => void,
): ToolDefinition {
  const readOnly = typeof entry["readOnly"] === "boolean" ? entry["readOnly"] : null;
  const mutates = typeof entry["mutates"] === "string" ? entry["mutates"] : null;
  const contradicts = readOnly === true && mutates !== null;
  if (contradicts) note(name, "$.readOnly", "is true beside `mutates`: treated as a write");
  return {
    name,
    schema: entry["schema"],
    description: textOf(entry["description"]),
    method: null,
    readOnly: contradicts ? false : readOnly,
    risky: false,
    effects:
      mutates === null ? [] : [{ resource: mutates, kind: "update" as const, exclusive: false }],
  };
}

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
 * there is none. A reader ignores what it does not expect, so such an entry would give a tool without
 * its schema and hints: a laxer policy.
 */
function foreignEntryIn(list: readonly unknown[], format: ListFormat): string | null {
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
