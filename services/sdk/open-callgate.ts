import { readEnv } from "../adapters/config/read-env.ts";
import { CallgateError } from "./callgate-error.ts";
import type { Callgate } from "./callgate-gate.ts";
import { composeCallgate } from "./compose-callgate.ts";
import { linkToEmbedded } from "./embedded-link.ts";
import { GateClient } from "./gate-client.ts";
import type { OpenOptions } from "./gate-types.ts";
import { loggerOf } from "./library-logger.ts";
import { memberProblem } from "./members.ts";
import { openEmbedded } from "./open-embedded.ts";

const TIMEOUT_MS = 30_000;

const MEMBERS: Readonly<Record<keyof OpenOptions, true>> = {
  policy: true,
  normalizers: true,
  dataDir: true,
  secret: true,
  timeoutMs: true,
  onLost: true,
};

/**
 * Opens a gate in this process, on a data directory that no other gate uses.
 *
 * @throws CallgateError: wrong options, broken policy (all its problems), directory in use or not usable, no secret.
 */
export async function openCallgate(options: OpenOptions): Promise<Callgate> {
  checkOptions(options);
  const { policy, normalizers, dataDir, secret, timeoutMs = TIMEOUT_MS, onLost } = options;
  const input = typeof policy === "string" ? { files: [policy] } : { document: policy };
  const embedded = await openEmbedded({
    policy: input,
    normalizers,
    dataDir,
    secret,
    logger: loggerOf(readEnv()),
  });
  const link = linkToEmbedded(embedded);
  return composeCallgate(link, new GateClient(link, { timeoutMs, onLost }));
}

/** @throws CallgateError `invalid_input` for what a program without types got wrong. */
function checkOptions(options: OpenOptions): void {
  const problem = memberProblem(options, Object.keys(MEMBERS)) ?? valueProblem(options);
  if (problem === undefined) return;
  throw new CallgateError("invalid_input", `the gate cannot be opened: ${problem}`);
}

function valueProblem({ policy, dataDir, timeoutMs }: OpenOptions): string | undefined {
  const given: unknown = dataDir;
  if (policy === undefined || policy === null) {
    return "`policy` is missing: give the path of a policy file, or an object";
  }
  if (given !== undefined && given !== false && (typeof given !== "string" || given === "")) {
    return "`dataDir` must be the path of a directory, or false";
  }
  if (timeoutMs === undefined || (Number.isFinite(timeoutMs) && timeoutMs > 0)) return undefined;
  return "`timeoutMs` must be a number of milliseconds above 0";
}
