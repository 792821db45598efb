/** OpenAI tool definitions, of chat completions (`function: {…}`) and of responses (flat). */
import { foreignEntryIn } from "./foreign-entry.ts";
import {
  isMap,
  type JsonMap,
  listIn,
  type ReadDefinitions,
  type ToolDefinition,
} from "./tool-definition.ts";

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
      note(nameOf(entry, index), "$", "is not a function and is left out");
      return;
    }
    const schema = described["parameters"];
    definitions.push({ name, schema, readOnly: null, risky: false, effects: [] });
  });
  return definitions;
};

function functionOf(entry: unknown): JsonMap | null {
  if (!isMap(entry)) return null;
  if (isMap(entry["function"])) return entry["function"];
  return entry["type"] === undefined || entry["type"] === "function" ? entry : null;
}

function nameOf(entry: unknown, index: number): string {
  const type = isMap(entry) ? entry["type"] : undefined;
  return typeof type === "string" ? type : `#${index}`;
}
