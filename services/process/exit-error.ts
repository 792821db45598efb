/** How a process of Callgate ends: its exit codes, and the error that carries one. */

export const EXIT_OK = 0;
/** `lint`, `test`, `verify`, `backtest` and `demo` on a cluster found problems. */
export const EXIT_FINDINGS = 1;
/** The input is wrong: options, a policy, a recording. */
export const EXIT_USAGE = 2;
/**
 * Environment error: an unreadable file, a lock, a full disk, brokers that do not answer, a defect
 * of Callgate.
 */
export const EXIT_ENVIRONMENT = 3;

export type ExitCode = 0 | 1 | 2 | 3;

/** A failure that its user can correct. Each line says what is wrong, where, and how to fix it. */
export class ExitError extends Error {
  readonly lines: readonly string[];
  readonly exitCode: typeof EXIT_USAGE | typeof EXIT_ENVIRONMENT;

  constructor(
    lines: string | readonly string[],
    exitCode: typeof EXIT_USAGE | typeof EXIT_ENVIRONMENT,
    cause?: unknown,
  ) {
    const all = typeof lines === "string" ? [lines] : lines;
    super(all.join("\n"), { cause });
    this.name = "ExitError";
    this.lines = all;
    this.exitCode = exitCode;
  }
}

export function usageError(lines: string | readonly string[]): ExitError {
  return new ExitError(lines, EXIT_USAGE);
}

export function environmentError(lines: string | readonly string[], cause?: unknown): ExitError {
  return new ExitError(lines, EXIT_ENVIRONMENT, cause);
}
