// Runs real gates in this process, on a real broker with topics and group.

import { registerSecrets, secretFrom } from "../../../services/adapters/config/secret-file.ts";
import type { KafkaSettings } from "../../../services/adapters/kafka/client.ts";
import type { KafkaLog } from "../../../services/adapters/kafka/kafka-log.ts";
import type { TopicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import type { CompiledPolicy } from "../../../services/core/policy/compiled.ts";
import { capabilities } from "../../../services/gate/capabilities.ts";
import type { GateTuning } from "../../../services/gate/gate-host.ts";
import { compileGatePolicy, withSecret } from "../../../services/gate/gate-policy.ts";
import {
  type KafkaGate,
  type KafkaGateOptions,
  openKafkaGate,
} from "../../../services/gate/open-kafka-gate.ts";
import { readPolicy } from "../../../services/library/read-policy.ts";
import { coreFold } from "../../../services/runtime/core-engine.ts";
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import { conversationKey, partitionOf } from "../../../services/runtime/partitioner.ts";
import type {
  CheckpointStore,
  Logger,
  ProposalAuthority,
} from "../../../services/runtime/ports.ts";
import { readJournal } from "../../../services/runtime/read-journal.ts";
import { verifyJournal } from "../../../services/runtime/verify.ts";
import { createAvroCodec } from "../../../services/wire/codec.ts";
import { numberedCall, PAY_POLICY, TENANT_PAY_POLICY } from "../numbered-calls.js";
import { until } from "../runtime-kit.ts";
import { plainSettings } from "./test-cluster.ts";

const SECRET = "a secret that is long enough for it";
const TENANT = "t";
const DAY_MS = 86_400_000;

const secret = secretFrom(SECRET);
if (!secret.ok) throw new Error("the secret is not one");
const { keyId, bytes } = secret.secret;

const secrets = new Map([[keyId, bytes]]);

/** The secret of the test's gates, which a gate compares with its journal. */
export const testSecrets = registerSecrets(secret.secret, [], "Give the test its secret");

export const testCodec = createAvroCodec({ secrets });

function compileTest(document: object): CompiledPolicy {
  const compiled = compileGatePolicy(readPolicy({ document }), capabilities);
  if (!compiled.ok) throw new Error("the policy does not compile");
  return withSecret(compiled.policy, keyId, secrets).compiled;
}

export const testPolicy = compileTest(PAY_POLICY);
/** Pays each order once in all conversations, which no gate on Kafka can. */
export const tenantPolicy = compileTest(TENANT_PAY_POLICY);

/** A retention of the journal as long as the test's policy needs. */
export const JOURNAL_RETENTION = { "retention.ms": String(30 * DAY_MS) };

export type TestGateChoices = {
  readonly group: string;
  /** By default `testPolicy`. */
  readonly policy?: CompiledPolicy;
  readonly logger?: Logger;
  /** Credentials and TLS, where the broker requires them. */
  readonly settings?: Partial<KafkaSettings>;
  readonly tuning?: GateTuning;
  readonly checkpoints?: CheckpointStore | null;
  readonly heads?: KafkaGateOptions["heads"];
  readonly secrets?: KafkaGateOptions["secrets"];
  readonly counts?: Map<string, number>;
  readonly transactionTimeoutMs?: number;
  readonly warmUpMs?: number;
  readonly authority?: ProposalAuthority;
  /** By default long enough for a gate on a busy machine to stay in its group. */
  readonly sessionTimeoutMs?: number;
};

/** A short session for a gate that is to leave its group, so that a test need not wait. */
export const SHORT_SESSION_MS = 3_000;
const SESSION_MS = 15_000;

const ignore = (): void => undefined;
const quiet: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Not started. */
export function openTestGate(
  brokers: readonly string[],
  names: TopicNames,
  choices: TestGateChoices,
): Promise<KafkaGate> {
  const { group, counts } = choices;
  return openKafkaGate({
    ...{ names, group, app: "test", codec: testCodec, clock: systemClock },
    policy: choices.policy ?? testPolicy,
    kafka: { ...plainSettings(brokers), ...choices.settings },
    sessionTimeoutMs: choices.sessionTimeoutMs ?? SESSION_MS,
    heartbeatIntervalMs: 300,
    transactionTimeoutMs: choices.transactionTimeoutMs ?? 10_000,
    checkpoints: () => choices.checkpoints ?? null,
    ...(choices.heads === undefined ? {} : { heads: choices.heads }),
    ...(choices.secrets === undefined ? {} : { secrets: choices.secrets }),
    logger: choices.logger ?? quiet,
    metrics: {
      count: (name, amount = 1) => counts?.set(name, (counts.get(name) ?? 0) + amount),
      observe: () => undefined,
    },
    tuning: { lingerMs: 0, ...choices.tuning },
    // No warm-up, since tests start many gates; test/unit/gate/warm-up.test.ts tests it.
    warmUpMs: choices.warmUpMs ?? 0,
    authority: choices.authority,
  });
}

export function isReady(gate: KafkaGate): boolean {
  return gate.host.status().ready;
}

export function untilReady(...gates: readonly KafkaGate[]): Promise<void> {
  return until(() => gates.every(isReady));
}

export function ownedBy(gate: KafkaGate): readonly number[] {
  return gate.host.status().partitions.map(({ partition }) => partition);
}

/** Appends `count` calls from number `from` on, each to the partition of its conversation. */
export async function propose(log: KafkaLog, from: number, count: number): Promise<void> {
  const records = Array.from({ length: count }, (_, at) => {
    const call = numberedCall(from + at);
    const key = conversationKey(TENANT, call.conversationId);
    const value = testCodec.encodeProposal({
      tenantId: TENANT,
      conversationId: call.conversationId,
      callId: call.callId ?? "",
      agentId: null,
      turn: String(call.turn),
      step: String(call.step),
      tool: call.tool,
      arguments: JSON.stringify(call.arguments),
      assistantText: null,
      estimatedCost: null,
      confirmation: null,
    });
    const partition = partitionOf(Buffer.from(key), log.partitions);
    return { topic: "proposals" as const, partition, key, value };
  });
  await log.append(records);
}

/** Proposes in the background until it is stopped. */
export class Load {
  #stopped = false;
  #count = 0;
  readonly #done: Promise<void>;

  constructor(log: KafkaLog, each = 10, pauseMs = 20) {
    this.#done = this.#run(log, each, pauseMs);
  }

  get count(): number {
    return this.#count;
  }

  /** Resolves with how many calls were proposed. */
  async stop(): Promise<number> {
    this.#stopped = true;
    await this.#done;
    return this.#count;
  }

  async #run(log: KafkaLog, each: number, pauseMs: number): Promise<void> {
    while (!this.#stopped) {
      await propose(log, this.#count, each);
      this.#count += each;
      await systemClock.sleep(pauseMs);
    }
  }
}

export type Decided = {
  /** Terminal decisions and holds, by call. */
  readonly byCall: ReadonlyMap<string, readonly string[]>;
  /** Proposals that were decided, each offset once. */
  readonly proposals: number;
  readonly problems: readonly string[];
};

/** The contents and the problems of the journals of all partitions. */
export async function readDecided(log: KafkaLog): Promise<Decided> {
  const byCall = new Map<string, string[]>();
  const problems: string[] = [];
  const seen = new Set<string>();
  for (let partition = 0; partition < log.partitions; partition += 1) {
    const context = { log, codec: testCodec, fold: coreFold, journalSpanMs: DAY_MS };
    const report = await verifyJournal(context, partition);
    problems.push(...report.problems.map(({ problem }) => `${partition}: ${problem}`));
    const end = await log.endOffset("decisions", partition);
    for await (const entries of readJournal(log, testCodec, partition, 0, end)) {
      for (const { record } of entries) {
        const position = proposalOf(record);
        if (position === null) continue;
        if (seen.has(position)) problems.push(`${position} was decided twice`);
        seen.add(position);
        collect(record, byCall);
      }
    }
  }
  return { byCall, proposals: seen.size, problems };
}

function proposalOf({ input }: JournalRecord): string | null {
  if (input.type !== "decided" || input.at.topic !== "proposals") return null;
  return `${input.at.partition}/${input.at.offset}`;
}

function collect({ events }: JournalRecord, byCall: Map<string, string[]>): void {
  for (const event of events) {
    const call = "call" in event ? event.call : event;
    if (!("callId" in call)) continue;
    byCall.set(call.callId, [...(byCall.get(call.callId) ?? []), event.type]);
  }
}

/** Waits until so many proposals have been decided. */
export async function untilDecided(log: KafkaLog, count: number): Promise<Decided> {
  let decided = await readDecided(log);
  while (decided.proposals < count) {
    await systemClock.sleep(100);
    decided = await readDecided(log);
  }
  return decided;
}
