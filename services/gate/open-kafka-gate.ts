/**
 * The gate on a Kafka cluster: checks the topics, and opens the log, the group, and the host of its
 * partitions.
 */
import { createKafka, type KafkaSettings } from "../adapters/kafka/client.ts";
import { ClusterLink } from "../adapters/kafka/cluster-link.ts";
import { type KafkaLog, openKafkaLog } from "../adapters/kafka/kafka-log.ts";
import { GroupMembership } from "../adapters/kafka/membership/group-membership.ts";
import { KafkaTopicInspector } from "../adapters/kafka/topics/topic-inspector.ts";
import type { TopicNames } from "../adapters/kafka/topics/topic-names.ts";
import { KafkaOwnership } from "../adapters/kafka/transactions/kafka-ownership.ts";
import type { WrittenWith } from "../adapters/kafka/transactions/unfinished-transactions.ts";
import type { CompiledPolicy } from "../core/policy/compiled.ts";
import type { RegisteredSecrets } from "../runtime/anchor.ts";
import type { ConversationLimits } from "../runtime/conversation-bounds.ts";
import { FatalError } from "../runtime/errors.ts";
import type { HeadStore } from "../runtime/journal-head.ts";
import type {
  CheckpointStore,
  Clock,
  Codec,
  Logger,
  Metrics,
  ProposalAuthority,
  TopicFacts,
  TopicInspector,
} from "../runtime/ports.ts";
import type { Topic } from "../runtime/topics.ts";
import { journalKeepMs } from "./gate-engine.ts";
import { GateHost, type GateStates, type GateTuning } from "./gate-host.ts";
import {
  checkTopics,
  describeStartProblems,
  GATE_TOPICS,
  type StartNeeds,
  type StartProblem,
} from "./start-checks.ts";
import { type WarmUpParts, warmUp } from "./warm-up.ts";

export type KafkaGateOptions = {
  readonly kafka: KafkaSettings;
  readonly names: TopicNames;
  /** First part of the transactional ids; each installation has its own. */
  readonly app: string;
  readonly group: string;
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  readonly transactionTimeoutMs: number;
  readonly codec: WarmUpParts["codec"];
  /** Null: there are no checkpoints, and a restore reads the whole journal. */
  readonly checkpoints: (log: KafkaLog) => CheckpointStore | null;
  /** Absent or null: all conversations stay in memory. */
  readonly states?: GateStates | null;
  /** Absent or null: nobody stores how far the journal had come. */
  readonly heads?: (log: KafkaLog) => HeadStore | null;
  /** Absent: the journal does not say which secrets it was written with. */
  readonly secrets?: RegisteredSecrets;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly policy: CompiledPolicy;
  /** Absent: whoever writes proposals is trusted. */
  readonly authority?: ProposalAuthority | undefined;
  readonly tuning: GateTuning;
  /** For new conversations of this process; absent: there may be any number. */
  readonly limits?: ConversationLimits;
  /**
   * Longest time for which made-up calls are decided before the gate joins its group, ms; 0: none
   * are.
   */
  readonly warmUpMs: number;
};

export interface KafkaGate {
  readonly host: GateHost;
  readonly log: KafkaLog;
  /** Problems of the topics under this policy; empty: the gate can use them. */
  checkPolicy(policy: CompiledPolicy): Promise<readonly StartProblem[]>;
  /**
   * Stops the host (see `GateHost.stop`), then closes what was opened. A second call stops the
   * waiting.
   */
  stop(): Promise<void>;
}

/** Part of a session: a hanging request is given up before the membership is lost. */
const REQUEST_SHARE = 0.75;
/**
 * Part of the smallest topic's largest request at which a batch closes: the last input may be
 * large.
 */
const BATCH_SHARE = 0.5;
const BATCH_BYTES_MAX = 2 * 1024 * 1024;
const BATCH_INPUTS_MAX = 500;
const OUTPUTS: readonly Topic[] = ["allowed", "refused", "held", "decisions", "deadLetters"];

type InspectorOptions = Pick<KafkaGateOptions, "kafka" | "names" | "logger" | "policy">;

/** @throws PipelineError: FatalError `log_mismatch` with every problem of the topics. */
export async function checkGateTopics(options: InspectorOptions): Promise<readonly TopicFacts[]> {
  const facts = await inspectorOf(options).describe();
  const problems = checkTopics(facts, needsOf(options.policy));
  if (problems.length > 0) throw new FatalError("log_mismatch", describeStartProblems(problems));
  return facts;
}

function needsOf(policy: CompiledPolicy): StartNeeds {
  return { keepMs: journalKeepMs(policy), scopesToTenant: policy.scopesToTenant };
}

function inspectorOf({ kafka, logger, names }: InspectorOptions): KafkaTopicInspector {
  return new KafkaTopicInspector(() => createKafka(kafka, logger), names);
}

/**
 * Checks the topics and opens the log; nothing is decided before `host.start`.
 * @throws as `checkGateTopics`.
 */
export async function openKafkaGate(options: KafkaGateOptions): Promise<KafkaGate> {
  const facts = await checkGateTopics(options);
  const log = await openKafkaLog({
    kafka: createKafka(options.kafka, options.logger),
    names: options.names,
    topics: GATE_TOPICS,
    clientId: options.kafka.clientId,
    requestTimeoutMs: options.kafka.requestTimeoutMs,
  });
  const membership = createMembership(options);
  const ownership = createOwnership(options, log, membership, facts);
  const host = createHost(options, log, membership, ownership, facts);
  return {
    host,
    log,
    checkPolicy: checkWith(inspectorOf(options)),
    stop: stopOf(host, log, ownership),
  };
}

function createMembership(options: KafkaGateOptions): GroupMembership {
  const { kafka, names, group, sessionTimeoutMs, heartbeatIntervalMs, logger } = options;
  const requestTimeoutMs = Math.min(kafka.requestTimeoutMs, sessionTimeoutMs * REQUEST_SHARE);
  return new GroupMembership({
    newKafka: () => createKafka({ ...kafka, requestTimeoutMs }, logger),
    names,
    settings: { group, sessionTimeoutMs, heartbeatIntervalMs },
    logger,
  });
}

function createOwnership(
  options: KafkaGateOptions,
  topics: KafkaLog,
  membership: GroupMembership,
  facts: readonly TopicFacts[],
): KafkaOwnership {
  const { app, group, transactionTimeoutMs, names, metrics, logger, codec } = options;
  const { requestTimeoutMs } = options.kafka;
  const newKafka = () => createKafka(options.kafka, logger);
  const outputs = OUTPUTS.map((topic) => names[topic]);
  const bytes = new Map(facts.map(({ name, messageBytesMax }) => [name, messageBytesMax]));
  return new KafkaOwnership({
    settings: { app, group, transactionTimeoutMs },
    newKafka,
    messageBytesMax: (name) => bytes.get(name) ?? 0,
    written: {
      ...{ topics: OUTPUTS, writtenWith: writtenWithOf(codec), logger },
      newLink: () => new ClusterLink(newKafka(), outputs, requestTimeoutMs),
    },
    ...{ names, membership, metrics, topics, journal: topics },
  });
}

function createHost(
  options: KafkaGateOptions,
  log: KafkaLog,
  membership: GroupMembership,
  ownership: KafkaOwnership,
  facts: readonly TopicFacts[],
): GateHost {
  const { codec, authority, clock, logger, metrics, policy, tuning } = options;
  const journal = facts.find(({ topic }) => topic === "decisions");
  const retentionMs = journal?.retentionMs ?? -1;
  return new GateHost({
    ...{ log, ownership, membership, codec, authority, clock, logger, metrics, policy },
    checkpoints: options.checkpoints(log),
    states: options.states ?? null,
    heads: options.heads?.(log) ?? null,
    secrets: options.secrets ?? null,
    limits: options.limits ?? {},
    // Unlimited retention: an idle partition need not write for it more often than for the policy.
    keepMs: retentionMs === -1 ? 0 : retentionMs,
    tuning: { ...tuning, batch: batchLimits(tuning, facts) },
    ...(options.warmUpMs === 0 ? {} : { warmUp: warmUpOf(options) }),
  });
}

function warmUpOf(options: KafkaGateOptions): (signal: AbortSignal) => Promise<unknown> {
  const { codec, names, clock, logger, policy, warmUpMs: forMs } = options;
  return (signal) => warmUp({ codec, names, clock, logger, policy, forMs }, signal);
}

function batchLimits(
  tuning: GateTuning,
  facts: readonly TopicFacts[],
): NonNullable<GateTuning["batch"]> {
  const { inputsMax, bytesMax } = tuning.batch ?? {
    inputsMax: BATCH_INPUTS_MAX,
    bytesMax: BATCH_BYTES_MAX,
  };
  const smallest = Math.min(
    ...facts.filter(({ topic }) => OUTPUTS.includes(topic)).map((one) => one.messageBytesMax),
  );
  return { inputsMax, bytesMax: Math.min(bytesMax, Math.floor(smallest * BATCH_SHARE)) };
}

function checkWith(inspector: TopicInspector): KafkaGate["checkPolicy"] {
  return async (policy) => checkTopics(await inspector.describe(), needsOf(policy));
}

function stopOf(host: GateHost, log: KafkaLog, ownership: KafkaOwnership): () => Promise<void> {
  let closed: Promise<void> | null = null;
  return async () => {
    await host.stop();
    closed ??= Promise.all([log.close(), ownership.close()]).then(() => undefined);
    await closed;
  };
}

/** The bytes that the gate writes in the transaction of a journal record. */
export function writtenWithOf(codec: Codec): (journalValue: Uint8Array) => Promise<WrittenWith> {
  return async (value) => {
    await codec.pending?.(value);
    const { input, events } = codec.decodeJournal(value);
    if (input.type === "idle") return { at: null, outputs: [] };
    const { at } = input;
    if (input.type === "forwarded") return { at, outputs: [] };
    if (input.type === "quarantined") return { at, outputs: [{ topic: "deadLetters", id: null }] };
    const outputs = events.flatMap((event) =>
      event.type === "allowed" || event.type === "refused" || event.type === "held"
        ? [{ topic: event.type, id: event.decisionId }]
        : [],
    );
    return { at, outputs };
  };
}
