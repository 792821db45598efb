import { readEnv } from "../adapters/config/read-env.ts";
import { createTelemetry } from "../adapters/opentelemetry/open-telemetry.ts";
import type { Callgate } from "../client/api/callgate.ts";
import type { OpenOptions } from "../client/api/gate-types.ts";
import { composeCallgate } from "../client/compose-callgate.ts";
import { GateClient } from "../client/gate-client.ts";
import type { ProposalAuthority } from "../runtime/ports.ts";
import { linkToEmbedded } from "./embedded-link.ts";
import { loggerOf } from "./library-logger.ts";
import { openEmbedded } from "./open-embedded.ts";
import type { PolicyInput } from "./read-policy.ts";
import { linkToShared } from "./shared-gate.ts";
import { TIMEOUT_MS } from "./time-limit.ts";

/**
 * Opens an embedded gate with options of the right types.
 * @throws CallgateError as `openCallgate`
 */
export async function composeEmbedded(options: OpenOptions): Promise<Callgate> {
  const { policy, normalizers, dataDir, secret, timeoutMs = TIMEOUT_MS, onLost } = options;
  const { proposalKeys, token, watchPolicy, onPolicy, shared, memoryBytes, limits } = options;
  const gateOptions = {
    policy: inputOf(policy),
    ...{ watchPolicy, onPolicy, normalizers, dataDir, memoryBytes, secret, limits },
    authority: proposalKeys === undefined ? undefined : await authorityOf(proposalKeys),
    logger: loggerOf(readEnv()),
  };
  const link =
    shared === true
      ? await linkToShared(gateOptions, proposalKeys)
      : linkToEmbedded(await openEmbedded(gateOptions));
  const telemetry = createTelemetry();
  return composeCallgate(link, new GateClient(link, { timeoutMs, onLost, token, telemetry }));
}

async function authorityOf(set: object): Promise<ProposalAuthority> {
  // Programs whose proposals are trusted do not need the library that this loads.
  const { authorityFrom } = await import("./proposal-keys.ts");
  return authorityFrom(set);
}

function inputOf(policy: OpenOptions["policy"]): PolicyInput {
  if (typeof policy === "string") return { files: [policy] };
  return isList(policy) ? { files: policy } : { document: policy };
}

function isList(policy: object): policy is readonly string[] {
  return Array.isArray(policy);
}
