/** `callgate topics plan` and `apply`. */
import type { Config } from "../../adapters/config/config-schema.ts";
import { createKafka } from "../../adapters/kafka/client.ts";
import { KafkaTopicAdmin } from "../../adapters/kafka/topics/topic-admin.ts";
import { KafkaTopicInspector } from "../../adapters/kafka/topics/topic-inspector.ts";
import { openPolicy } from "../../gate/gate-policy.ts";
import { EXIT_OK, type ExitCode, environmentError } from "../../process/exit-error.ts";
import { kafkaSettings, topicNamesOf } from "../../process/kafka-settings.ts";
import { quietLogger } from "../../runtime/quiet-logger.ts";
import type { Terminal } from "../output/terminal.ts";
import { counted } from "../output/text.ts";
import {
  ALERTS_TOPIC,
  neededKeepMs,
  planTopics,
  type TopicAction,
  type TopicNote,
  topicNotes,
} from "./plan-topics.ts";

export type TopicOptions = {
  /** Undefined: as the existing topics have, or the default. */
  readonly partitions: number | undefined;
  /** Undefined: three, or as many as there are brokers. */
  readonly replication: number | undefined;
  readonly apply: boolean;
  readonly json: boolean;
};

const REPLICATION_WANTED = 3;

export async function runTopics(
  config: Config,
  options: TopicOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const newKafka = () => createKafka(kafkaSettings(config), quietLogger);
  const admin = new KafkaTopicAdmin(newKafka);
  const facts = await new KafkaTopicInspector(newKafka, topicNamesOf(config)).describe();
  const brokers = await admin.countBrokers();
  const replicationFactor = options.replication ?? Math.min(REPLICATION_WANTED, brokers);
  const keepMs = await keepMsOf(config);
  const actions = planTopics(facts, {
    ...{ partitions: options.partitions, replicationFactor, journalKeepMs: keepMs },
    isReplicationAsked: options.replication !== undefined,
  });
  const conflict = actions.some(({ type }) => type === "conflict");
  // The alerts topic is recreated by hand, so a conflict there does not stop the other topics.
  const isStopped = actions.some((one) => one.type === "conflict" && one.topic !== ALERTS_TOPIC);
  const apply = options.apply && !isStopped;
  if (apply) {
    await admin.create(actions.filter((action) => action.type === "create"));
    await admin.configure(actions.filter((action) => action.type === "configure"));
  }
  const plan = { actions, notes: topicNotes(facts, keepMs), partitions: facts[0]?.partitions ?? 0 };
  await tell(plan, { ...options, apply }, terminal);
  if (conflict) throw environmentError("the topics must be changed by hand; see above");
  return EXIT_OK;
}

async function keepMsOf({ policy }: Config): Promise<number | null> {
  return neededKeepMs(policy.files.length === 0 ? undefined : await openPolicy(policy.files));
}

type Plan = {
  readonly actions: readonly TopicAction[];
  readonly notes: readonly TopicNote[];
  /** Partitions of the existing topics. */
  readonly partitions: number;
};

async function tell(
  { actions, notes, partitions }: Plan,
  { apply, json }: TopicOptions,
  { out }: Terminal,
): Promise<void> {
  if (json) {
    await out.write(`${JSON.stringify({ applied: apply, actions, notes })}\n`);
    return;
  }
  for (const action of actions) await out.write(`${describe(action)}\n`);
  for (const { name, message } of notes) await out.write(`note      ${name}: ${message}\n`);
  const changes = actions.filter(({ type }) => type !== "conflict");
  if (changes.length < actions.length && !apply) return;
  const what = counted(changes.length, "change");
  const each = counted(partitions, "partition");
  if (actions.length === 0) await out.write(`the topics need no change; they have ${each} each\n`);
  else if (apply) await out.write(`${what} made\n`);
  else await out.write(`${what} to make: callgate topics apply\n`);
}

function describe(action: TopicAction): string {
  switch (action.type) {
    case "create": {
      const { name, partitions, replicationFactor, settings } = action;
      return `create    ${name}: ${partitions} partitions, ${replicationFactor} replicas, ${listed(settings)}`;
    }
    case "configure": {
      const { name, settings, before } = action;
      return `configure ${name}: ${listed(settings)} (now ${listed(before)})`;
    }
    case "conflict":
      return `conflict  ${action.name} ${action.message}`;
  }
}

function listed(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([key, value]) => `${key}=${value}`)
    .join(" ");
}
