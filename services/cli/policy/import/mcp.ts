/**
 * The answer to an MCP `tools/list`. Annotations are the server's own claims: those of an untrusted
 * server may make a tool stricter, never laxer.
 */
import { foreignEntryIn } from "./foreign-entry.ts";
import {
  isMap,
  type JsonMap,
  listIn,
  type ReadDefinitions,
  type ToolDefinition,
} from "./tool-definition.ts";

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
      note(entry["name"], "$.annotations.readOnlyHint", "is not believed; pass --trusted if it is");
    }
    definitions.push({
      name: entry["name"],
      schema: entry["inputSchema"],
      readOnly: readOnly === false ? false : readOnly === true && trusted ? true : null,
      risky: hints["destructiveHint"] === true,
      effects: [],
    });
  });
  return definitions;
};
