/** `callgate gate`: runs the gate on a cluster, as configured. */
import type { Config } from "../adapters/config/config-schema.ts";
import type { ProcessMetrics } from "../adapters/metrics/process-metrics.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { withDefaultLimits } from "../adapters/system/state-memory.ts";
import { type ExitCode, usageError } from "../process/exit-error.ts";
import { kafkaSettings, topicNamesOf } from "../process/kafka-settings.ts";
import { openCodec } from "../process/open-codec.ts";
import { openConfig } from "../process/open-config.ts";
import { openRedis } from "../process/open-redis.ts";
import { openSecrets } from "../process/open-secrets.ts";
import {
  aborted,
  type ProcessContext,
  type ProcessOutput,
  type RunningService,
  runProcess,
} from "../process/run-process.ts";
import { BROKERS, REGISTRY, untilThere } from "../process/wait-for-cluster.ts";
import type { CommittedRecord } from "../runtime/journal.ts";
import type { Logger } from "../runtime/ports.ts";
import type { GateHost, GateTuning } from "./gate-host.ts";
import {
  checkGateTopics,
  type KafkaGate,
  type KafkaGateOptions,
  openKafkaGate,
} from "./open-kafka-gate.ts";
import { openStates } from "./open-states.ts";
import { rotateSecrets } from "./rotate-secrets.ts";
import { watchConversations } from "./watch-conversations.ts";
import { WatchedKeys } from "./watched-keys.ts";
import { WatchedPolicy } from "./watched-policy.ts";

const PORT = 8_080;
const BATCH_BYTES_MAX = 2 * 1024 * 1024;

export async function runGate(file: string | undefined, output: ProcessOutput): Promise<ExitCode> {
  const config = openConfig(file, ["policy.files", "secret.value"]);
  if (config.limits.stateBytes !== undefined && config.state.directory === undefined) {
    throw usageError(
      "limits.stateBytes: the gate has no state store to measure; set `state.directory`, or leave `limits.stateBytes` out",
    );
  }
  return runProcess({ service: "gate", config, portDefault: PORT, start: startGate }, output);
}

async function startGate(context: ProcessContext): Promise<RunningService> {
  const { config, logger, metrics, signal, fail, waitsFor } = context;
  const { store: secrets, timed } = openSecrets(config, systemClock.nowMs());
  const keyId = secrets.currentKeyId;
  const policy = await WatchedPolicy.open({ config: config.policy, secrets, logger, metrics });
  const keys = await WatchedKeys.open(config.gate, logger);
  const names = topicNamesOf(config);
  const cluster = { kafka: kafkaSettings(config), names, logger, policy: policy.current };
  // Topics before the schemas, which are registered under the names of topics.
  await untilThere(() => checkGateTopics(cluster), context, BROKERS);
  const { codec, close } = await untilThere(
    () => openCodec(config, names, secrets.byKeyId),
    context,
    REGISTRY,
  );
  const redis = await openRedis(config, logger);
  const states = await openStates(config.state, systemClock);
  const options: KafkaGateOptions = {
    ...{ ...cluster, codec, metrics },
    authority: keys?.authority,
    ...groupOf(config),
    secrets,
    checkpoints: (log) => redis?.checkpoints(log) ?? null,
    states,
    heads: (log) => redis?.heads(log) ?? null,
    clock: systemClock,
    tuning: tuningOf(config),
    limits: withDefaultLimits(config.limits, states?.memoryBytes ?? null),
    warmUpMs: config.gate.warmUpMs,
  };
  const gate = await untilThere(() => openKafkaGate(options), context, BROKERS);
  watchGate(gate.host, logger, metrics, config);
  void gate.host.failed.then(fail);
  logger.info("decides by the policy", { revision: policy.current.revision, keyId });
  waitsFor(`membership in the group \`${config.kafka.group}\``);
  await Promise.race([gate.host.start(), aborted(signal)]);
  policy.watch((next) => takeOver(gate, next));
  const stopRotation = rotateSecrets({ secrets, timed, policy, clock: systemClock });
  keys?.watch();
  return {
    ready: () => {
      const { ready, ...detail } = readiness(gate.host);
      return { ok: ready, detail };
    },
    close: async () => {
      stopRotation();
      await Promise.all([gate.stop(), policy.close(), keys?.close()]);
      await states?.close();
      redis?.close();
      close();
      return true;
    },
  };
}

function groupOf(config: Config) {
  const { app, group, sessionTimeoutMs, heartbeatIntervalMs, transactionTimeoutMs } = config.kafka;
  return { app, group, sessionTimeoutMs, heartbeatIntervalMs, transactionTimeoutMs };
}

function tuningOf({ gate }: Config): GateTuning {
  return {
    batch: { inputsMax: gate.batchInputs, bytesMax: BATCH_BYTES_MAX },
    lingerMs: gate.lingerMs,
    eventSource: gate.cloudEventsSource ?? null,
    checkpointEvery: gate.checkpointEveryRecords,
    offsetsGraceMs: gate.offsetsGraceMs,
  };
}

/**
 * Switches to a policy. Returns the problems that prevent it; empty: the gate decides by it from
 * now on.
 */
async function takeOver(
  gate: KafkaGate,
  policy: KafkaGateOptions["policy"],
): Promise<readonly string[]> {
  const problems = await gate.checkPolicy(policy);
  if (problems.length === 0) gate.host.setPolicy(policy);
  return problems.map(({ topic, message, remedy }) => `\`${topic}\` ${message}: ${remedy}`);
}

function readiness(host: GateHost) {
  const { ready, joined, partitions } = host.status();
  const shown = partitions.map(({ partition, state, detail, error }) => ({
    ...{ partition, state, detail },
    ...(error === null ? {} : { code: error.code, problem: error.message }),
  }));
  return { ready, joined, partitions: shown };
}

function watchGate(host: GateHost, logger: Logger, metrics: ProcessMetrics, { log }: Config): void {
  metrics.watch(
    "partition_state",
    "1 for the current state of a partition",
    ["partition", "state"],
    () =>
      host.status().partitions.map(({ partition, state }) => ({
        labels: { partition: String(partition), state },
        value: 1,
      })),
  );
  watchConversations(metrics, host);
  if (log.level !== "debug") return;
  host.onCommitted((records, partition) => {
    for (const record of records) logRecord(logger, partition, record);
  });
}

/** Logs what was decided of which call: names and codes, never arguments. */
function logRecord(logger: Logger, partition: number, { offset, record }: CommittedRecord): void {
  for (const event of record.events) {
    const logged = event.type === "repeated" ? event.decision : event;
    // These events change nothing, or follow from another event, or concern no call.
    if (logged.type === "ignored" || logged.type === "claimed") continue;
    if (logged.type === "ruled") continue;
    const { tenantId, conversationId, decisionId } = logged;
    const { callId, tool } = "call" in logged ? logged.call : logged;
    const reason = logged.type === "refused" ? { reason: logged.refusal.reason } : {};
    const names = { tenantId, conversationId, callId, decisionId, tool };
    logger.debug("journaled", { type: event.type, ...names, ...reason, partition, offset });
  }
}
