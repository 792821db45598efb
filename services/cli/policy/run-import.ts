/** `callgate policy import`: converts tool definitions of other formats into a policy. */
import { basename } from "node:path";
import { formatProblem } from "../../core/policy/problem.ts";
import { EXIT_OK, type ExitCode, usageError } from "../../process/exit-error.ts";
import { readJsonFile } from "../output/read-json.ts";
import { openResult, refuseExisting, refuseOverwriting } from "../output/result-writer.ts";
import type { Terminal } from "../output/terminal.ts";
import { printable } from "../output/text.ts";
import { type DefaultAction, type ImportFormat, importTools } from "./import/import-tools.ts";
import type { ImportNote } from "./import/tool-definition.ts";

export interface ImportCommandOptions {
  readonly format: ImportFormat;
  /** Must not exist yet. */
  readonly out?: string | undefined;
  /** Annotations of the MCP server may make a tool a read. */
  readonly trusted: boolean;
  /** `authorization.default` of the policy. */
  readonly defaultAction: DefaultAction;
  readonly json: boolean;
}

const NOTE_CHARACTERS = 300;

/** Only the policy goes to the result; repairs and open questions go to stderr. */
export async function runImport(
  paths: readonly string[],
  options: ImportCommandOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  refuseOverwriting(options.out, paths);
  refuseExisting(options.out);
  const sources = await Promise.all(
    paths.map(async (path) => ({ name: basename(path), json: await readJsonFile(path) })),
  );
  const { trusted, defaultAction } = options;
  const imported = importTools(sources, options.format, { trusted, defaultAction });
  if (!imported.ok) throw usageError(imported.problems.map(formatProblem));
  const { yaml, notes } = imported;
  const result = await openResult(terminal, options.out);
  try {
    await result.write(options.json ? `${JSON.stringify({ policy: yaml, notes })}\n` : yaml);
  } finally {
    await result.close();
  }
  if (!options.json) await terminal.err.write(noteLines(notes).join(""));
  return EXIT_OK;
}

/** One line for each thing that is said, however many tools it is said of. */
function noteLines(notes: readonly ImportNote[]): readonly string[] {
  const tools = new Map<string, string[]>();
  for (const { tool, path, message } of notes) {
    const said = `${path}: ${message}`;
    tools.set(said, [...(tools.get(said) ?? []), tool]);
  }
  return [...tools].map(([said, names]) => {
    const [only = ""] = names;
    const line =
      names.length === 1
        ? `${only}: ${said}`
        : `${names.length} tools: ${said}: ${names.join(", ")}`;
    return `note: ${printable(line, NOTE_CHARACTERS)}\n`;
  });
}
