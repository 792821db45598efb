/** The tool lists of recorded worlds: name, schema, readOnly, mutates. */
import { foreignEntryIn } from "./foreign-entry.ts";
import {
  isMap,
  type JsonMap,
  listIn,
  type ReadDefinitions,
  type ToolDefinition,
} from "./tool-definition.ts";

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
  if (contradicts) note(name, "$.readOnly", "is true beside `mutates`: taken as a write");
  return {
    name,
    schema: entry["schema"],
    readOnly: contradicts ? false : readOnly,
    risky: false,
    effects:
      mutates === null ? [] : [{ resource: mutates, kind: "update" as const, exclusive: false }],
  };
}
