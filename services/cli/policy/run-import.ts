/** `callgate policy import`: converts tool definitions of other formats into a policy. */
import { formatProblem } from "../../core/policy/problem.ts";
import { EXIT_OK, type ExitCode, usageError } from "../../process/exit-error.ts";
import { openResult, refuseExisting, refuseOverwriting } from "../output/result-writer.ts";
import type { Terminal } from "../output/terminal.ts";
import { importTools } from "./import/import-tools.ts";
import type { DefaultAction } from "./import/policy-text.ts";
import { noteLines } from "./note-lines.ts";
import { loadSources, type SourceOptions } from "./sources/load-sources.ts";

export interface ImportCommandOptions extends SourceOptions {
  /** Must not exist yet. */
  readonly out?: string | undefined;
  /** Annotations of the MCP server may make a tool a read. */
  readonly trusted: boolean;
  /** `authorization.default` of the policy. */
  readonly defaultAction: DefaultAction;
  /** Guesses nothing. */
  readonly declaredOnly: boolean;
  readonly json: boolean;
}

/** Only the policy goes to the result; repairs and open questions go to stderr. */
export async function runImport(
  options: ImportCommandOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  refuseOverwriting(options.out, options.files);
  refuseExisting(options.out);
  const sources = await loadSources(options);
  const { trusted, defaultAction, declaredOnly } = options;
  const format = options.format ?? "mcp";
  const imported = importTools(sources, format, { trusted, defaultAction, declaredOnly });
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
