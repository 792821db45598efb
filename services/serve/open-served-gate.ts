/** Opens the gate of a server: in this process, or as a client of a gate on Kafka. */
import type { Config } from "../adapters/config/config-schema.ts";
import type { ProcessMetrics } from "../adapters/metrics/process-metrics.ts";
import { createTelemetry } from "../adapters/opentelemetry/open-telemetry.ts";
import { systemClock } from "../adapters/system/clock.ts";
import type { CallgateError } from "../client/api/callgate-error.ts";
import { composeCallgate } from "../client/compose-callgate.ts";
import { GateClient } from "../client/gate-client.ts";
import { linkToRemote } from "../client/remote-link.ts";
import { type GatePolicy, openPolicy, withSecret } from "../gate/gate-policy.ts";
import { watchConversations } from "../gate/watch-conversations.ts";
import { linkToEmbedded } from "../library/embedded-link.ts";
import { openEmbedded } from "../library/open-embedded.ts";
import { TIMEOUT_MS } from "../library/time-limit.ts";
import { hasSecrets, openSecrets } from "../process/open-secrets.ts";
import type { ConversationLimits } from "../runtime/conversation-bounds.ts";
import type { Logger } from "../runtime/ports.ts";
import type { ServedGate } from "./served-gate.ts";

export type GateSource =
  | {
      readonly kind: "embedded";
      readonly policy: readonly string[];
      readonly dataDir: string;
      /** See `EmbeddedOptions`. */
      readonly memoryBytes?: number | undefined;
      readonly limits?: ConversationLimits;
    }
  | { readonly kind: "kafka"; readonly config: Config };

export type OpenGateParts = {
  readonly logger: Logger;
  readonly metrics: ProcessMetrics;
  readonly onLost: (error: CallgateError) => void;
};

/** @throws CallgateError, PipelineError if the gate cannot be opened or reached */
export async function openServedGate(
  source: GateSource,
  { logger, metrics, onLost }: OpenGateParts,
): Promise<ServedGate> {
  const { link, policy } =
    source.kind === "embedded"
      ? await openHere(source, logger, metrics)
      : await openOnKafka(source.config, logger);
  const telemetry = createTelemetry();
  const client = new GateClient(link, { timeoutMs: TIMEOUT_MS, onLost, telemetry });
  const gate = composeCallgate(link, client);
  return { gate, client, link, policy, clock: systemClock, logger };
}

type OpenedGate = Pick<ServedGate, "link" | "policy">;

async function openHere(
  { policy, dataDir, memoryBytes, limits }: Extract<GateSource, { kind: "embedded" }>,
  logger: Logger,
  metrics: ProcessMetrics,
): Promise<OpenedGate> {
  const open = { dataDir, memoryBytes, limits, logger, metrics };
  const options = { policy: { files: policy }, watchPolicy: true, ...open };
  const embedded = await openEmbedded(options);
  watchConversations(metrics, embedded.gate);
  return { link: linkToEmbedded(embedded), policy: async () => embedded.policy };
}

async function openOnKafka(config: Config, logger: Logger): Promise<OpenedGate> {
  const store = hasSecrets(config) ? openSecrets(config, systemClock.nowMs()).store : null;
  const secrets = store?.byKeyId ?? new Map<string, Uint8Array>();
  // A server with a data directory starts without the clients of Kafka.
  const { openCluster } = await import("../process/open-cluster.ts");
  const cluster = await openCluster(config, secrets, logger);
  const { log, codec } = cluster;
  const link = linkToRemote({
    ...{ log, codec, clock: systemClock, secrets, logger },
    close: () => cluster.close(),
    abandon: () => cluster.abandon(),
  });
  const { files } = config.policy;
  if (files.length === 0) return { link };
  // Read at each request: the gate elsewhere loads it again when it changes.
  const policy = async (): Promise<GatePolicy> => {
    const opened = await openPolicy(files);
    return store === null ? opened : withSecret(opened, store.currentKeyId, secrets);
  };
  return { link, policy };
}
