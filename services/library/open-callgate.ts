import type { Callgate } from "../client/api/callgate.ts";
import { CallgateError } from "../client/api/callgate-error.ts";
import type { OpenOptions } from "../client/api/gate-types.ts";
import type { OpenLimits } from "../client/api/open-limits.ts";
import { memberProblem, optionsProblem } from "../client/inputs/check-options.ts";

const MEMBERS: Readonly<Record<keyof OpenOptions, true>> = {
  policy: true,
  watchPolicy: true,
  onPolicy: true,
  normalizers: true,
  dataDir: true,
  memoryBytes: true,
  shared: true,
  limits: true,
  secret: true,
  proposalKeys: true,
  token: true,
  timeoutMs: true,
  onLost: true,
};

const MEMORY_BYTES_MIN = 64 * 1024;

/**
 * Opens a gate in this process, on a data directory that no other gate uses; with `shared`, one gate
 * for all processes that open the directory.
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
  const problem =
    optionsProblem(options, Object.keys(MEMBERS)) ??
    valueProblem(options) ??
    limitsProblem(options);
  if (problem === undefined) return;
  throw new CallgateError("invalid_input", `the gate cannot be opened: ${problem}`);
}

function valueProblem(options: OpenOptions): string | undefined {
  const { policy, normalizers, onPolicy } = options;
  if (policy === undefined || policy === null) {
    return "`policy` is missing: pass the path of a policy file, or an object";
  }
  if (!isPolicy(policy)) return "`policy` must be paths of policy files, or an object";
  const problem = watchProblem(options) ?? memoryProblem(options);
  if (problem !== undefined) return problem;
  if (onPolicy !== undefined && typeof onPolicy !== "function") {
    return "`onPolicy` must be a function";
  }
  const notOurs = Object.entries(normalizers ?? {}).find(([, one]) => typeof one !== "function");
  if (notOurs !== undefined) return `\`normalizers.${notOurs[0]}\` must be a function`;
  return directoryProblem(options);
}

function directoryProblem({ dataDir, shared }: OpenOptions): string | undefined {
  const directory: unknown = dataDir;
  if (shared !== undefined && typeof shared !== "boolean") return "`shared` must be true or false";
  if (shared === true && directory === false) return "`shared` needs a `dataDir`";
  const isPath = typeof directory === "string" && directory !== "";
  if (directory === undefined || directory === false || isPath) return undefined;
  return "`dataDir` must be the path of a directory, or false";
}

const LIMITS: Readonly<Record<keyof OpenLimits, true>> = {
  conversations: true,
  conversationsPerTenant: true,
  stateBytes: true,
};

function limitsProblem({ limits, dataDir }: OpenOptions): string | undefined {
  if (limits === undefined) return undefined;
  const problem = memberProblem(limits, Object.keys(LIMITS));
  if (problem !== undefined) return `\`limits\`: ${problem}`;
  const wrong = Object.entries(limits).find(
    ([, value]) => value !== undefined && !(Number.isSafeInteger(value) && value >= 1),
  );
  if (wrong !== undefined) return `\`limits.${wrong[0]}\` must be a whole number from 1 on`;
  const isMeasured = limits.stateBytes === undefined || dataDir !== false;
  return isMeasured ? undefined : "`limits.stateBytes` needs a `dataDir`, whose bytes it bounds";
}

function memoryProblem({ memoryBytes, dataDir }: OpenOptions): string | undefined {
  if (memoryBytes === undefined) return undefined;
  if (!Number.isSafeInteger(memoryBytes) || memoryBytes < MEMORY_BYTES_MIN) {
    return `\`memoryBytes\` must be a whole number of at least ${MEMORY_BYTES_MIN}`;
  }
  return dataDir === false ? "`memoryBytes` needs a `dataDir` for what leaves memory" : undefined;
}

function watchProblem({ policy, watchPolicy }: OpenOptions): string | undefined {
  if (watchPolicy === undefined || watchPolicy === false) return undefined;
  if (watchPolicy !== true) return "`watchPolicy` must be true or false";
  const isOfFiles = typeof policy === "string" || Array.isArray(policy);
  return isOfFiles ? undefined : "`watchPolicy` needs a policy file: pass its path as `policy`";
}

function isPolicy(input: unknown): boolean {
  if (!Array.isArray(input)) return typeof input === "string" || typeof input === "object";
  return input.length > 0 && input.every((path) => typeof path === "string");
}
