/** `callgate doctor`: checks the environment and prints each problem with its fix. */

import type { Config } from "../../adapters/config/config-schema.ts";
import { createKafka } from "../../adapters/kafka/client.ts";
import { ClusterLink } from "../../adapters/kafka/cluster-link.ts";
import { readRange } from "../../adapters/kafka/records/read-range.ts";
import { KafkaTopicAdmin } from "../../adapters/kafka/topics/topic-admin.ts";
import { KafkaTopicInspector } from "../../adapters/kafka/topics/topic-inspector.ts";
import {
  describeOpen,
  findOpenTransactions,
} from "../../adapters/kafka/transactions/unfinished-transactions.ts";
import { type GatePolicy, openPolicy } from "../../gate/gate-policy.ts";
import { WatchedKeys } from "../../gate/watched-keys.ts";
import { EXIT_OK, type ExitCode, ExitError, environmentError } from "../../process/exit-error.ts";
import { kafkaSettings, topicNamesOf } from "../../process/kafka-settings.ts";
import { openConfig } from "../../process/open-config.ts";
import { openRedis } from "../../process/open-redis.ts";
import { hasSecrets, openSecrets } from "../../process/open-secrets.ts";
import { asPipelineError } from "../../runtime/errors.ts";
import { quietLogger } from "../../runtime/quiet-logger.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";
import { WIRE_FORMAT } from "../../wire/framing.ts";
import type { Terminal } from "../output/terminal.ts";
import { counted } from "../output/text.ts";
import { voidableRules } from "../policy/trusted-proposals.ts";
import { neededKeepMs } from "./plan-topics.ts";
import { findClusterLosses } from "./recover.ts";
import { askRegistry } from "./schemas.ts";
import { findSharedGroups } from "./shared-group.ts";
import { findStrayInputs } from "./stray-inputs.ts";
import { topicProblems, topicWarnings } from "./topic-problems.ts";

type Finding = {
  readonly part: string;
  /**
   * `warning`: everything runs, but data may be lost. `skipped`: not configured, or a prerequisite
   * failed.
   */
  readonly state: "ok" | "warning" | "wrong" | "skipped";
  /** What was checked, or the problem with its fix. */
  readonly lines: readonly string[];
};

const NODE_MIN = [20, 20] as const;
/** Longer than any transaction of ours takes, whatever happens to its writer. */
const OPEN_MS_MAX = 60_000;

export async function runDoctor(
  file: string | undefined,
  json: boolean,
  { out }: Terminal,
): Promise<ExitCode> {
  const findings = await examine(file);
  const wrong = findings.filter(({ state }) => state === "wrong");
  if (json) await out.write(`${JSON.stringify({ ok: wrong.length === 0, findings })}\n`);
  else await out.write(findings.map((finding) => render(finding, out.style)).join(""));
  if (wrong.length === 0) return EXIT_OK;
  const need = wrong.length === 1 ? "needs" : "need";
  throw environmentError(`${counted(wrong.length, "part")} of the environment ${need} fixing`);
}

async function examine(file: string | undefined): Promise<readonly Finding[]> {
  const findings = [nodeFinding()];
  let config: Config | undefined;
  findings.push(
    await finding("configuration", () => {
      config = openConfig(file, []);
      return ["every key is valid"];
    }),
  );
  if (config === undefined) return findings;
  const validConfig: Config = config;
  let policy: GatePolicy | undefined;
  findings.push(
    await finding("policy", async () => {
      const { files } = validConfig.policy;
      if (files.length === 0) return null;
      policy = await openPolicy(files);
      return [`revision ${policy.compiled.revision}`];
    }),
    await finding("secret", () => {
      return hasSecrets(validConfig) ? secretLines(validConfig) : null;
    }),
    await finding("proposals", () => proposalLines(validConfig, policy)),
    await finding("kafka", () => topicLines(validConfig, policy)),
  );
  const hasTopics = findings.at(-1)?.state !== "wrong";
  findings.push(
    await finding("registry", () => registryLines(validConfig, hasTopics)),
    await finding("redis", () => redisLines(validConfig)),
    await finding("journal", () => (hasTopics ? journalLines(validConfig) : null)),
  );
  return findings;
}

function nodeFinding(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [majorMin, minorMin] = NODE_MIN;
  const isNewEnough = major > majorMin || (major === majorMin && minor >= minorMin);
  const version = `Node ${process.versions.node}`;
  return isNewEnough
    ? { part: "node", state: "ok", lines: [version] }
    : {
        part: "node",
        state: "wrong",
        lines: [`${version}: install ${NODE_MIN.join(".")} or newer`],
      };
}

function secretLines(config: Config): readonly string[] {
  const { store, timed } = openSecrets(config, Date.now());
  const current = `key id ${store.currentKeyId}`;
  if (timed.length < 2) return [current];
  return timed.map(({ id, keyId, fromMs }) => {
    if (keyId === store.currentKeyId) return `\`${id}\`, ${current}: makes new keys`;
    const isAhead = fromMs > Date.now();
    const state = isAhead ? `makes keys from ${new Date(fromMs).toISOString()}` : "stays valid";
    return `\`${id}\`, key id ${keyId}: ${state}`;
  });
}

/** Null: there is nothing to check. */
type PartResult = readonly string[] | { readonly warnings: readonly string[] } | null;

async function finding(
  part: string,
  look: () => Promise<PartResult> | PartResult,
): Promise<Finding> {
  try {
    const result = await look();
    if (result === null) return { part, state: "skipped", lines: ["not configured"] };
    if ("warnings" in result) return { part, state: "warning", lines: result.warnings };
    return { part, state: "ok", lines: result };
  } catch (error) {
    const lines = error instanceof ExitError ? error.lines : [asPipelineError(error).message];
    return { part, state: "wrong", lines };
  }
}

/** Which rules a writer of `proposals` can bypass, and whether tokens prevent that. */
async function proposalLines(config: Config, policy: GatePolicy | undefined): Promise<PartResult> {
  if (config.gate.proposals === "signed") {
    const keys = await WatchedKeys.open(config.gate, quietLogger);
    return [`signed; keys ${keys?.authority.keyIds.join(", ")}`];
  }
  const rules = policy === undefined ? [] : voidableRules(policy.document);
  if (rules.length === 0) return ["trusted: only the platform may write them"];
  return {
    warnings: [
      "trusted: anybody who can write them can bypass the following; let only the platform write them, or set `gate.proposals: signed`",
      ...rules.map(({ what }) => what),
    ],
  };
}

async function topicLines(config: Config, policy: GatePolicy | undefined): Promise<PartResult> {
  const newKafka = () => createKafka(kafkaSettings(config), quietLogger);
  const facts = await new KafkaTopicInspector(newKafka, topicNamesOf(config)).describe();
  const keepMs = neededKeepMs(policy);
  const problems = topicProblems(facts, keepMs);
  if (problems.length > 0) throw environmentError(problems);
  const names = facts.map(({ name }) => name);
  const link = new ClusterLink(newKafka(), names, config.kafka.requestTimeoutMs);
  let strayInputs: readonly string[];
  try {
    await link.connect();
    const transactions = await findOpenTransactions(link, facts);
    const stuck = transactions.filter(({ sinceMs }) => Date.now() - sinceMs > OPEN_MS_MAX);
    const { brokers } = config.kafka;
    if (stuck.length > 0) throw environmentError(stuck.map((one) => describeOpen(one, brokers)));
    strayInputs = await findStrayInputs(link, facts);
  } finally {
    await link.close();
  }
  const groups = [config.kafka.group, config.executor.group];
  const shared = await findSharedGroups(kafkaSettings(config), groups, names);
  const warnings = [...topicWarnings(facts, keepMs), ...strayInputs, ...shared];
  if (warnings.length > 0) return { warnings };
  return [`${facts.length} topics of ${facts[0]?.partitions ?? 0} partitions`];
}

async function registryLines(config: Config, hasTopics: boolean): Promise<PartResult> {
  if (config.registry === undefined) {
    if (hasTopics) await assertNeedsNone(config);
    return null;
  }
  const reports = await askRegistry(config, false);
  const problems = reports.flatMap((one) =>
    one.problems.map((problem) => `${one.subject}: ${problem}`),
  );
  if (problems.length > 0) throw environmentError(problems);
  const missing = reports.filter(({ id }) => id === null).map(({ subject }) => subject);
  if (missing.length > 0 && !config.registry.register) {
    throw environmentError(`not registered: ${missing.join(", ")}: run callgate schemas register`);
  }
  const notes = reports.flatMap((one) => one.notes.map((note) => `${one.subject}: ${note}`));
  if (notes.length > 0) return { warnings: notes };
  return [`${reports.length - missing.length} of ${reports.length} schemas are registered`];
}

/** A gate without the registry would treat the journal of every partition as broken. */
async function assertNeedsNone(config: Config): Promise<void> {
  const name = topicNamesOf(config)[JOURNAL_TOPIC];
  const kafka = createKafka(kafkaSettings(config), quietLogger);
  const link = new ClusterLink(kafka, [name], config.kafka.requestTimeoutMs);
  try {
    await link.connect();
    const { topics } = await link.describe();
    const partitions = topics[0]?.partitions ?? 0;
    if (!(await needsRegistry(link, { name, partitions }))) return;
    throw environmentError(
      `\`${name}\` is in the wire format of a schema registry, and none is configured: set \`registry.url\``,
    );
  } finally {
    await link.close();
  }
}

async function redisLines(config: Config) {
  const redis = await openRedis(config, quietLogger);
  if (redis === null) return null;
  const newKafka = () => createKafka(kafkaSettings(config), quietLogger);
  try {
    const clusterId = await new KafkaTopicAdmin(newKafka).clusterId();
    const { mark } = await redis.checkpoints({ clusterId }).load(0);
    const none = "no checkpoint of partition 0 yet: they are written as the journal grows";
    return [mark === null ? `it answers; ${none}, and when a gate ends` : "it answers"];
  } finally {
    redis.close();
  }
}

/** Whether the journal has everything that Redis recorded. Reads only the journal's ends. */
async function journalLines(config: Config): Promise<PartResult> {
  if (config.redis === undefined) return null;
  const partitionLosses = await findClusterLosses(config, null);
  const losses = partitionLosses.flatMap((one) => one.losses);
  if (losses.length === 0) return ["no loss is known"];
  throw environmentError([...losses, "restore it, or accept the loss: `callgate recover`"]);
}

const SIGNS = { ok: "ok", warning: "warn", wrong: "wrong", skipped: "-" } as const;

function render({ part, state, lines }: Finding, style: Terminal["out"]["style"]): string {
  const paint = { ok: style.good, warning: style.bad, wrong: style.bad, skipped: style.dim }[state];
  return lines
    .map((line, index) => {
      const sign = index === 0 ? paint(SIGNS[state].padEnd("wrong".length)) : "     ";
      return `${sign}  ${(index === 0 ? part : "").padEnd("configuration".length)}  ${line}\n`;
    })
    .join("");
}

/** Transaction markers take offsets between the records. */
const LOOK_AT_OFFSETS = 10;

/**
 * Whether the journal's first remaining record can only be read with a schema registry.
 * @param link connected.
 */
async function needsRegistry(
  link: ClusterLink,
  journal: { readonly name: string; readonly partitions: number },
): Promise<boolean> {
  const { name, partitions } = journal;
  for (let partition = 0; partition < partitions; partition += 1) {
    const from = await link.offset(name, partition, "earliest");
    const end = await link.offset(name, partition, "stable");
    const to = Math.min(end, from + LOOK_AT_OFFSETS);
    const { records } = await readRange(link, { name, partition, from, to, committed: true });
    const value = records.find((one) => one.value !== null)?.value ?? null;
    if (value !== null) return WIRE_FORMAT.matches(Buffer.from(value));
  }
  return false;
}
