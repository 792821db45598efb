/**
 * What the rules of a conformance run work with: topics of its own, calls that it publishes as a
 * gate would, the tool that counts effects, and what the executor reports.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../../adapters/config/config-schema.ts";
import { createKafka } from "../../adapters/kafka/client.ts";
import { ClusterLink } from "../../adapters/kafka/cluster-link.ts";
import { KafkaTopicAdmin } from "../../adapters/kafka/topics/topic-admin.ts";
import { kafkaSettings, topicNamesOf } from "../../process/kafka-settings.ts";
import { type OpenedCluster, openCluster } from "../../process/open-cluster.ts";
import { partitionOf } from "../../runtime/partitioner.ts";
import { quietLogger } from "../../runtime/quiet-logger.ts";
import type { AllowedCall } from "../../wire/output-records.ts";
import { type Effect, EffectEndpoint, type Treatment } from "./effect-endpoint.ts";
import { ExecutorProcess } from "./executor-process.ts";
import { ResultsWatch, type SeenReport, UNREADABLE } from "./results-watch.ts";
import { RuleBroken } from "./rule-broken.ts";
import { type CallChoices, keyOf, sampleCall } from "./sample-call.ts";

const PARTITIONS = 2;
const REPLICAS_MAX = 3;
const LOOK_EVERY_MS = 10;
/** Covers a start of the executor and the session of the one before it. */
export const WITHIN_MS = 60_000;
const TRANSACTION_TIMEOUT_MS = 60_000;

export type Hold = { readonly promise: Promise<void>; readonly release: () => void };

/** A call whose handler waits until it is released. */
export type HeldCall = { readonly call: AllowedCall; readonly release: () => void };

export class Lab {
  readonly config: Config;
  readonly #cluster: OpenedCluster;
  readonly #link: ClusterLink;
  readonly #endpoint: EffectEndpoint;
  readonly #watch: ResultsWatch;
  readonly #command: string;
  readonly #published: AllowedCall[] = [];
  readonly #executors: ExecutorProcess[] = [];

  private constructor(parts: {
    readonly config: Config;
    readonly cluster: OpenedCluster;
    readonly link: ClusterLink;
    readonly endpoint: EffectEndpoint;
    readonly command: string;
  }) {
    this.config = parts.config;
    this.#cluster = parts.cluster;
    this.#link = parts.link;
    this.#endpoint = parts.endpoint;
    this.#command = parts.command;
    this.#watch = new ResultsWatch(parts.cluster.log, parts.cluster.codec);
  }

  /** Creates the topics. @throws PipelineError where the cluster or the registry does not answer. */
  static async open(base: Config, command: string): Promise<Lab> {
    const config = ownConfig(base);
    const names = topicNamesOf(config);
    const newKafka = () => createKafka(kafkaSettings(config), quietLogger);
    const admin = new KafkaTopicAdmin(newKafka);
    const replicationFactor = Math.min(REPLICAS_MAX, await admin.countBrokers());
    const settings = { "message.timestamp.type": "LogAppendTime" };
    const topics = Object.values(names).map((name) => ({
      ...{ name, partitions: PARTITIONS, replicationFactor, settings },
    }));
    await admin.create(topics);
    const cluster = await openCluster(config, new Map(), quietLogger);
    const link = new ClusterLink(newKafka(), [names.results], config.kafka.requestTimeoutMs);
    await link.connect();
    return new Lab({ config, cluster, link, command, endpoint: await EffectEndpoint.open() });
  }

  get published(): readonly AllowedCall[] {
    return this.#published;
  }

  get executors(): readonly ExecutorProcess[] {
    return this.#executors;
  }

  get endpointProblem(): string | null {
    return this.#endpoint.problem;
  }

  get unreadable(): readonly string[] {
    return this.#watch.unreadable;
  }

  createExecutor(): ExecutorProcess {
    const { group } = this.config.executor;
    const executor = new ExecutorProcess({
      command: this.#command,
      variables: this.#variables(),
      // Otherwise every kill costs the time of a session. Where it fails, it does.
      onKilled: () => this.#link.removeMembers(group).catch(() => undefined),
    });
    this.#executors.push(executor);
    return executor;
  }

  /** Publishes a call in the partition of its conversation. */
  async publish(choices: CallChoices = {}, treatment?: Treatment): Promise<AllowedCall> {
    const call = sampleCall(choices);
    if (treatment !== undefined) this.#endpoint.treat(call.decisionId, treatment);
    this.#published.push(call);
    await this.append(call);
    return call;
  }

  /** Publishes a call whose handler waits, also when another process runs it again. */
  async publishHeld(choices: CallChoices = {}): Promise<HeldCall> {
    const { promise, release } = createHold();
    const call = await this.publish(choices, { status: 200, until: promise });
    return { call, release };
  }

  /** Publishes a held call and waits until its handler has begun. */
  async runHeld(choices: CallChoices = {}): Promise<HeldCall> {
    const held = await this.publishHeld(choices);
    await this.untilBegun(held.call);
    return held;
  }

  /** Appends the record of a call, maybe again. */
  async append(call: AllowedCall): Promise<void> {
    const { log, codec } = this.#cluster;
    const value = codec.encodeAllowed(call);
    await log.append([
      { topic: "allowed", partition: this.partitionOf(call), key: keyOf(call), value },
    ]);
  }

  /** Writes `started` as an executor that is gone has done; resolves when it is in the log. */
  async writeStarted(call: AllowedCall, executorId: string): Promise<void> {
    const partition = this.partitionOf(call);
    const before = await this.resultsEnd(partition, "latest");
    const written = this.#cluster.log.append([this.#started(call, executorId)]);
    // It becomes visible late where a transaction before it is open.
    written.catch(() => undefined);
    await this.until("the suite's own record was written", async () => {
      return (await this.resultsEnd(partition, "latest")) > before;
    });
  }

  async writeUnreadable(topic: "allowed" | "results", partition: number): Promise<void> {
    const value = UNREADABLE;
    await this.#cluster.log.append([{ topic, partition, key: null, value }]);
  }

  /** Leaves a transaction open in the results of a partition. Returns the function that ends it. */
  async openTransaction(partition: number): Promise<() => Promise<void>> {
    const producer = this.#cluster.newKafka().producer({
      transactionalId: `${this.config.kafka.app}.other.${randomUUID()}`,
      ...{ idempotent: true, maxInFlightRequests: 1, transactionTimeout: TRANSACTION_TIMEOUT_MS },
    });
    await producer.connect();
    const transaction = await producer.transaction();
    const call = sampleCall({ conversationId: this.conversationIn(partition) });
    const { key, value } = this.#started(call, "another");
    const messages = [{ partition, key, value: Buffer.from(value) }];
    await transaction.send({ topic: this.#cluster.names.results, messages });
    return async () => {
      await transaction.abort();
      await producer.disconnect();
    };
  }

  partitionOf(call: AllowedCall): number {
    return partitionOf(keyOf(call), this.#cluster.log.partitions);
  }

  /** A new conversation of a partition. */
  conversationIn(partition: number): string {
    for (;;) {
      const conversationId = randomUUID();
      if (this.partitionOf(sampleCall({ conversationId })) === partition) return conversationId;
    }
  }

  resultsEnd(partition: number, kind: "latest" | "stable"): Promise<number> {
    return this.#link.offset(this.#cluster.names.results, partition, kind);
  }

  effectsOf({ decisionId }: AllowedCall): readonly Effect[] {
    return this.#endpoint.effectsOf(decisionId);
  }

  reportsOf({ decisionId }: AllowedCall): readonly SeenReport[] {
    return this.#watch.of(decisionId);
  }

  statusesOf(call: AllowedCall): readonly string[] {
    return this.reportsOf(call).map(({ status }) => status);
  }

  untilBegun(call: AllowedCall): Promise<void> {
    return this.until("the handler was called", () => this.effectsOf(call).length > 0);
  }

  untilReported(call: AllowedCall, status: string): Promise<void> {
    return this.until(`\`${status}\` was reported`, () => this.statusesOf(call).includes(status));
  }

  /** Resolves with the last status, when one that ends the call is in the log. */
  async untilEnded(call: AllowedCall): Promise<string> {
    await this.until("the call's end was reported", () => isEnded(this.statusesOf(call)));
    return this.statusesOf(call).at(-1) ?? "";
  }

  /** @throws RuleBroken if it is not so in time. */
  async until(
    what: string,
    condition: () => boolean | Promise<boolean>,
    withinMs = WITHIN_MS,
  ): Promise<void> {
    const untilMs = performance.now() + withinMs;
    while (!(await condition())) {
      if (performance.now() > untilMs) {
        throw new RuleBroken(`expected within ${withinMs / 1_000} s that ${what}`);
      }
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** Ends the executors and deletes the topics. */
  async close(): Promise<void> {
    await Promise.all(this.#executors.map((executor) => executor.stop()));
    this.#endpoint.close();
    this.#watch.close();
    await this.#link.close();
    await this.#cluster.close();
    const newKafka = () => createKafka(kafkaSettings(this.config), quietLogger);
    await new KafkaTopicAdmin(newKafka).remove(Object.values(this.#cluster.names));
  }

  #started(call: AllowedCall, executorId: string) {
    const { tenantId, conversationId, decisionId } = call;
    const value = this.#cluster.codec.encodeResult({
      ...{ type: "result", tenantId, conversationId, callId: call.call.callId, decisionId },
      ...{ status: "started", output: null, outputDigest: null, outputBytes: null },
      ...{ error: null, durationMs: null, cost: null, executorId },
    });
    return {
      topic: "results",
      partition: this.partitionOf(call),
      key: keyOf(call),
      value,
    } as const;
  }

  /** What docs/executor-protocol.md promises to the command. */
  #variables(): Readonly<Record<string, string>> {
    const { kafka, executor, registry } = this.config;
    return {
      CALLGATE_KAFKA_BROKERS: kafka.brokers.join(","),
      CALLGATE_KAFKA_TOPIC_PREFIX: kafka.topicPrefix,
      CALLGATE_KAFKA_APP: kafka.app,
      CALLGATE_KAFKA_SESSION_TIMEOUT_MS: String(kafka.sessionTimeoutMs),
      CALLGATE_EXECUTOR_GROUP: executor.group,
      CALLGATE_HTTP_PORT: "0",
      CALLGATE_CONFORMANCE_URL: this.#endpoint.url,
      ...(registry === undefined ? {} : { CALLGATE_REGISTRY_URL: registry.url }),
    };
  }
}

export function createHold(): Hold {
  let release = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { promise, release };
}

function isEnded(statuses: readonly string[]): boolean {
  return statuses.some((status) => status !== "started");
}

/** The same cluster and registry, with topics, group and transactional ids of this run alone. */
function ownConfig(config: Config): Config {
  const name = `callgate-conformance-${randomUUID().slice(0, 8)}`;
  const { kafka, executor, registry } = config;
  return {
    ...config,
    kafka: { ...kafka, topicPrefix: name, topics: {}, app: name },
    executor: { ...executor, group: `${name}-executor` },
    ...(registry === undefined ? {} : { registry: { ...registry, register: true } }),
  };
}
