/** `callgate executor`: runs allowed calls with the handlers of a module. */
import type { Config } from "../adapters/config/config-schema.ts";
import { ClusterLink } from "../adapters/kafka/cluster-link.ts";
import { GroupMembership } from "../adapters/kafka/membership/group-membership.ts";
import { KafkaTopicInspector } from "../adapters/kafka/topics/topic-inspector.ts";
import { KafkaOwnership } from "../adapters/kafka/transactions/kafka-ownership.ts";
import { systemClock } from "../adapters/system/clock.ts";
import type { ExitCode } from "../process/exit-error.ts";
import { type OpenedCluster, openCluster } from "../process/open-cluster.ts";
import { openConfig } from "../process/open-config.ts";
import {
  aborted,
  type ProcessContext,
  type ProcessOutput,
  type RunningService,
  runProcess,
} from "../process/run-process.ts";
import { BROKERS, untilThere } from "../process/wait-for-cluster.ts";
import type { Ownership } from "../runtime/ports.ts";
import { ExecutorHost } from "./executor-host.ts";
import { createLeftTools, type Handlers, loadHandlers } from "./handlers.ts";

const PORT = 8_081;
/** Share of the shutdown time; the rest is for remaining writes and for leaving the group. */
const HANDLERS_SHARE = 0.8;
/**
 * Share of a session: a hanging request must be abandoned before the membership in the group
 * expires.
 */
const REQUEST_SHARE = 0.75;

export type ExecutorOptions = {
  readonly config: string | undefined;
  /** Overrides `executor.handlers`. */
  readonly handlers: string | undefined;
};

export async function runExecutor(
  options: ExecutorOptions,
  output: ProcessOutput,
): Promise<ExitCode> {
  const needs = options.handlers === undefined ? ["executor.handlers"] : [];
  const config = openConfig(options.config, needs);
  const handlers = await loadHandlers(options.handlers ?? config.executor.handlers ?? "");
  const start = (context: ProcessContext) => startExecutor(handlers, context);
  return runProcess({ service: "executor", config, portDefault: PORT, start }, output);
}

async function startExecutor(handlers: Handlers, context: ProcessContext): Promise<RunningService> {
  const { config, logger, metrics, signal, fail, waitsFor } = context;
  const cluster = await untilThere(() => openCluster(config, new Map(), logger), context);
  const membership = membershipOf(config, cluster, context);
  const ownership = await untilThere(
    () => ownershipOf(config, cluster, membership, context),
    context,
    BROKERS,
  );
  const host = new ExecutorHost({
    ...{ log: cluster.log, codec: cluster.codec, clock: systemClock, logger, handlers },
    ...{ ownership, membership, parallelCalls: config.executor.parallelCalls },
    onReported: (status) =>
      metrics.add("executor_reports", "reports written, by status", { status }),
    onLeft: createLeftTools(logger, metrics, systemClock),
  });
  metrics.watch(
    "executor_partition_state",
    "1 for the current state of a partition",
    ["partition", "state"],
    () =>
      host.status().partitions.map(({ partition, state }) => ({
        labels: { partition: String(partition), state },
        value: 1,
      })),
  );
  void host.failed.then(fail);
  logger.info("runs the calls of its tools", { tools: Object.keys(handlers).join(",") });
  waitsFor(`membership in the group \`${config.executor.group}\``);
  await Promise.race([host.start(), aborted(signal)]);
  return {
    ready: () => {
      const { ready, joined, partitions } = host.status();
      const shown = partitions.map(({ partition, state, error }) => ({
        ...{ partition, state },
        ...(error === null ? {} : { code: error.code, problem: error.message }),
      }));
      return { ok: ready, detail: { joined, partitions: shown } };
    },
    close: async () => {
      const hasFinished = await host.stop(config.shutdownMs * HANDLERS_SHARE);
      await ownership.close();
      await cluster.close();
      return hasFinished;
    },
  };
}

function membershipOf(
  { kafka, executor }: Config,
  { newKafka, names }: OpenedCluster,
  { logger }: ProcessContext,
): GroupMembership {
  const { sessionTimeoutMs, heartbeatIntervalMs } = kafka;
  const requestTimeoutMs = Math.min(kafka.requestTimeoutMs, sessionTimeoutMs * REQUEST_SHARE);
  return new GroupMembership({
    ...{ newKafka: () => newKafka({ requestTimeoutMs }), names, logger },
    settings: { group: executor.group, sessionTimeoutMs, heartbeatIntervalMs },
  });
}

async function ownershipOf(
  { kafka, executor }: Config,
  { newKafka, names }: OpenedCluster,
  membership: GroupMembership,
  { metrics, logger }: ProcessContext,
): Promise<Ownership & { close(): Promise<void> }> {
  const { app, transactionTimeoutMs } = kafka;
  const facts = await new KafkaTopicInspector(newKafka, names).describe();
  const bytes = new Map(facts.map(({ name, messageBytesMax }) => [name, messageBytesMax]));
  return new KafkaOwnership({
    settings: { app, group: executor.group, transactionTimeoutMs },
    ...{ names, newKafka, membership, metrics },
    messageBytesMax: (name) => bytes.get(name) ?? 0,
    // The executor reads no inputs of the gate, and has no permission to.
    positions: [],
    written: {
      // Whoever was told that a call may begin has begun it, so its claim must stay in the log.
      ...{ topics: ["results"], writtenWith: null, logger },
      newLink: () => new ClusterLink(newKafka(), [names.results], kafka.requestTimeoutMs),
    },
  });
}
