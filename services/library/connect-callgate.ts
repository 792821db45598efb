import type { Callgate } from "../client/api/callgate.ts";
import { CallgateError } from "../client/api/callgate-error.ts";
import type { ConnectOptions } from "../client/api/connect-types.ts";
import { optionsProblem } from "../client/inputs/check-options.ts";

/**
 * Connects to a gate that runs elsewhere, through the topics that it reads and writes. Answers come
 * from its journal, so every answer is durable and visible to everybody.
 *
 * @throws CallgateError: `invalid_input` with every problem of the options; the cluster cannot be
 *   used.
 */
export async function connectCallgate(options: ConnectOptions): Promise<Callgate> {
  checkOptions(options);
  // Loaded with the first connection, so that a program that imports the package starts quickly.
  const { composeConnected } = await import("./compose-connected.ts");
  return composeConnected(options);
}

const MEMBERS: Readonly<Record<keyof ConnectOptions, true>> = {
  kafka: true,
  registry: true,
  secret: true,
  token: true,
  timeoutMs: true,
  onLost: true,
};

/** @throws CallgateError `invalid_input` for mistakes of an untyped program. */
function checkOptions(options: ConnectOptions): void {
  const problem = optionsProblem(options, Object.keys(MEMBERS));
  if (problem === undefined) return;
  throw new CallgateError("invalid_input", `the gate cannot be connected to: ${problem}`);
}
