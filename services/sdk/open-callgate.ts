import { readEnv } from "../adapters/config/read-env.ts";
import type { Callgate } from "./callgate-gate.ts";
import { composeCallgate } from "./compose-callgate.ts";
import { linkToEmbedded } from "./embedded-link.ts";
import { GateClient } from "./gate-client.ts";
import type { OpenOptions } from "./gate-types.ts";
import { loggerOf } from "./library-logger.ts";
import { openEmbedded } from "./open-embedded.ts";

const TIMEOUT_MS = 30_000;

/**
 * Opens a gate in this process, on a data directory that no other gate uses.
 *
 * @throws CallgateError: broken policy (all its problems), directory in use or not usable, no secret.
 */
export async function openCallgate(options: OpenOptions): Promise<Callgate> {
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
