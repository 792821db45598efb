/** Converts every failure of a command into lines for people and an exit code. */
import { CommanderError } from "commander";
import { CallgateError, type CallgateErrorCode } from "../../client/api/callgate-error.ts";
import {
  EXIT_ENVIRONMENT,
  EXIT_OK,
  EXIT_USAGE,
  type ExitCode,
  ExitError,
} from "../../process/exit-error.ts";
import { PipelineError } from "../../runtime/errors.ts";
import { ClosedOutput } from "./terminal.ts";

export interface Failure {
  readonly lines: readonly string[];
  readonly exitCode: ExitCode;
}

/**
 * Errors of the library that are caused by the request; all others are caused by the environment.
 */
const USAGE_CODES: ReadonlySet<CallgateErrorCode> = new Set([
  "policy_invalid",
  "invalid_input",
  "unknown_approval",
  "unknown_decision",
  "reason_required",
  "self_approval",
]);

export function failureOf(error: unknown, debug: boolean): Failure {
  if (error instanceof ClosedOutput) return { lines: [], exitCode: EXIT_OK };
  if (error instanceof ExitError) return { lines: error.lines, exitCode: error.exitCode };
  if (error instanceof CommanderError) return commanderFailure(error);
  if (error instanceof CallgateError) {
    const exitCode = USAGE_CODES.has(error.code) ? EXIT_USAGE : EXIT_ENVIRONMENT;
    return { lines: error.message.split("\n"), exitCode };
  }
  if (error instanceof PipelineError && error.code !== "unexpected") {
    return { lines: error.message.split("\n"), exitCode: EXIT_ENVIRONMENT };
  }
  return { lines: unexpected(error, debug), exitCode: EXIT_ENVIRONMENT };
}

/** Help and version end a command too, without failing. Commander has printed its message. */
function commanderFailure(error: CommanderError): Failure {
  return { lines: [], exitCode: error.exitCode === 0 ? EXIT_OK : EXIT_USAGE };
}

function unexpected(error: unknown, debug: boolean): readonly string[] {
  const message = error instanceof Error ? error.message : String(error);
  const [first = "unknown"] = message.split("\n");
  const line = `unexpected error: ${first}; set CALLGATE_DEBUG=1 to see where, and report it`;
  return debug && error instanceof Error ? [line, error.stack ?? ""] : [line];
}
