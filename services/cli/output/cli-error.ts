import { EXIT_ENVIRONMENT, EXIT_USAGE } from "./exit-codes.ts";

/**
 * What a user can do something about. Each line says what is wrong, where, and what to do; it is
 * printed as it is.
 */
export class CliError extends Error {
  readonly lines: readonly string[];
  readonly exitCode: typeof EXIT_USAGE | typeof EXIT_ENVIRONMENT;

  constructor(
    lines: string | readonly string[],
    exitCode: typeof EXIT_USAGE | typeof EXIT_ENVIRONMENT,
    cause?: unknown,
  ) {
    const all = typeof lines === "string" ? [lines] : lines;
    super(all.join("\n"), { cause });
    this.name = "CliError";
    this.lines = all;
    this.exitCode = exitCode;
  }
}

export function usageError(lines: string | readonly string[]): CliError {
  return new CliError(lines, EXIT_USAGE);
}

export function environmentError(lines: string | readonly string[], cause?: unknown): CliError {
  return new CliError(lines, EXIT_ENVIRONMENT, cause);
}
