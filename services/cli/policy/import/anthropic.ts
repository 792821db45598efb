/** Anthropic tool definitions: name and input_schema. Server-side tools have none. */
import { foreignEntryIn } from "./foreign-entry.ts";
import { isMap, listIn, type ReadDefinitions, type ToolDefinition } from "./tool-definition.ts";

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
      definitions.push({ name, schema, readOnly: null, risky: false, effects: [] });
    }
  });
  return definitions;
};
