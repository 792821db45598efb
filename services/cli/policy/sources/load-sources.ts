/** The tool definitions that a command is given: files, MCP servers, modules. */
import { basename } from "node:path";
import { parseYamlText } from "../../../adapters/policy/parse-yaml.ts";
import { usageError } from "../../../process/exit-error.ts";
import { readTextFile } from "../../../process/text-files.ts";
import { parseJson } from "../../output/read-json.ts";
import type { ImportFormat, ImportSource } from "../import/import-tools.ts";
import { askMcpServer } from "./ask-mcp-server.ts";
import { detectFormat } from "./detect-format.ts";
import { readToolModule } from "./read-tool-module.ts";

export type SourceOptions = {
  readonly files: readonly string[];
  /** Null: recognized from each file. */
  readonly format: ImportFormat | null;
  /** Commands that start MCP servers. */
  readonly mcp: readonly string[];
  /** Paths of modules that export tools. */
  readonly modules: readonly string[];
};

/** @throws ExitError: a source cannot be read, or its format is not recognized. */
export async function loadSources(options: SourceOptions): Promise<readonly ImportSource[]> {
  const { files, format, mcp, modules } = options;
  if (files.length + mcp.length + modules.length === 0) {
    throw usageError("there are no tool definitions: name a file, or use --mcp or --module");
  }
  const sources: ImportSource[] = [];
  for (const path of files) {
    const name = basename(path);
    const json = await readDefinitions(path);
    sources.push({ name, json, format: format ?? formatOf(path, json) });
  }
  for (const command of mcp) {
    sources.push({
      name: nameOfCommand(command),
      json: await askMcpServer(command),
      format: "mcp",
    });
  }
  for (const path of modules) {
    sources.push({ name: basename(path), json: await readToolModule(path), format: "mcp" });
  }
  return sources;
}

function formatOf(path: string, json: unknown): ImportFormat {
  const format = detectFormat(json);
  if (format !== null) return format;
  throw usageError(`${path}: its format is not recognized; name it with --format`);
}

async function readDefinitions(path: string): Promise<unknown> {
  const text = await readTextFile(path);
  if (!/\.ya?ml$/i.test(path)) return parseJson(text, path);
  const parsed = parseYamlText(text);
  if (parsed.ok) return parsed.value;
  const { line, column, message } = parsed;
  throw usageError(`${path}:${line}:${column}: not YAML: ${message}; correct it there`);
}

const LAUNCHERS: ReadonlySet<string> = new Set(
  "npx node bunx uvx uv run docker python python3 deno".split(" "),
);

/** `npx -y @scope/server-github@1.2 --flag` is called `server-github`. */
function nameOfCommand(command: string): string {
  const words = command.split(/\s+/).map((word) => basename(word));
  const program = words.find((word) => !word.startsWith("-") && !LAUNCHERS.has(word));
  return (program ?? command).replace(/@[\d.]+$/, "");
}
