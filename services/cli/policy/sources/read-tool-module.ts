/** Tools that a program exports: of the AI SDK, LangChain, or plain definitions. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { jsonSchemaOf } from "../../../adapters/policy/json-schema-of.ts";
import { usageError } from "../../../process/exit-error.ts";
import { isMap, textOf } from "../import/tool-definition.ts";

/** The exported tools, in the form of one `tools/list`. Runs the module. @throws ExitError */
export async function readToolModule(path: string): Promise<unknown> {
  const exported = await importModule(path);
  const tools = Object.values(exported).flatMap((value) => toolsIn(value));
  const distinct = new Map(tools.map((tool) => [tool.name, tool]));
  if (distinct.size > 0) return { tools: [...distinct.values()] };
  throw usageError(
    `--module: ${path} exports no tools; export a list, or a record of tools by name`,
  );
}

async function importModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await import(pathToFileURL(resolve(path)).href);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const remedy =
      code === "ERR_UNKNOWN_FILE_EXTENSION"
        ? "this Node reads no TypeScript: compile the file, or set NODE_OPTIONS=--import=tsx"
        : "check that `node` can import it by itself";
    throw usageError(`--module: ${path} cannot be imported: ${message}; ${remedy}`);
  }
}

type ModuleTool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: unknown;
};

/** A list of tools, a record of tools by name, or one tool that has its own name. */
function toolsIn(value: unknown): readonly ModuleTool[] {
  if (Array.isArray(value)) return value.flatMap((one) => toolOf(one, null));
  if (!isMap(value)) return [];
  const own = toolOf(value, null);
  if (own.length > 0) return own;
  return Object.entries(value).flatMap(([name, one]) => toolOf(one, name));
}

const SCHEMA_KEYS = ["inputSchema", "parameters", "schema", "input_schema"] as const;

function toolOf(value: unknown, key: string | null): readonly ModuleTool[] {
  if (!isMap(value)) return [];
  const inner = isMap(value["function"]) ? value["function"] : value;
  const name = key ?? inner["name"];
  const schema = SCHEMA_KEYS.map((one) => inner[one]).find((one) => one !== undefined);
  if (typeof name !== "string" || (schema === undefined && inner["description"] === undefined)) {
    return [];
  }
  return [{ name, description: textOf(inner["description"]), inputSchema: jsonSchemaOf(schema) }];
}
