import type { Callgate } from "../client/api/callgate.ts";
import { CallgateError } from "../client/api/callgate-error.ts";
import type { OpenOptions } from "../client/api/gate-types.ts";
import { optionsProblem } from "../client/inputs/check-options.ts";

const MEMBERS: Readonly<Record<keyof OpenOptions, true>> = {
  policy: true,
  normalizers: true,
  dataDir: true,
  secret: true,
  proposalKeys: true,
  token: true,
  timeoutMs: true,
  onLost: true,
};

/**
 * Opens a gate in this process, on a data directory that no other gate uses.
 *
 * @throws CallgateError: wrong options, an invalid policy (with all its problems), a directory in
 *   use or unusable, no secret.
 */
export async function openCallgate(options: OpenOptions): Promise<Callgate> {
  checkOptions(options);
  // Loaded with the first gate, so that a program that imports the package starts quickly.
  const { composeEmbedded } = await import("./compose-embedded.ts");
  return composeEmbedded(options);
}

/** @throws CallgateError `invalid_input` for mistakes of an untyped program. */
function checkOptions(options: OpenOptions): void {
  const problem = optionsProblem(options, Object.keys(MEMBERS)) ?? valueProblem(options);
  if (problem === undefined) return;
  throw new CallgateError("invalid_input", `the gate cannot be opened: ${problem}`);
}

function valueProblem(options: OpenOptions): string | undefined {
  const { policy, dataDir, normalizers } = options;
  const directory: unknown = dataDir;
  if (policy === undefined || policy === null) {
    return "`policy` is missing: pass the path of a policy file, or an object";
  }
  if (!isPolicy(policy)) return "`policy` must be paths of policy files, or an object";
  const notOurs = Object.entries(normalizers ?? {}).find(([, one]) => typeof one !== "function");
  if (notOurs !== undefined) return `\`normalizers.${notOurs[0]}\` must be a function`;
  const isPath = typeof directory === "string" && directory !== "";
  if (directory === undefined || directory === false || isPath) return undefined;
  return "`dataDir` must be the path of a directory, or false";
}

function isPolicy(input: unknown): boolean {
  if (!Array.isArray(input)) return typeof input === "string" || typeof input === "object";
  return input.length > 0 && input.every((path) => typeof path === "string");
}
