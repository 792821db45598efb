// What every row of the fault suite works with: topics of its own, gates, load without pause, a proxy
// that strikes, and the judgement at the end.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { startKafka } from "../../../infra/local/start-kafka.js";
import type { AvroCodec } from "../../../services/adapters/avro/codec.ts";
import { configOf } from "../../../services/adapters/config/load-config.ts";
import { secretFrom } from "../../../services/adapters/config/secret-file.ts";
import type { KafkaLog } from "../../../services/adapters/kafka/kafka-log.ts";
import type { TopicNames } from "../../../services/adapters/kafka/topic-names.ts";
import { openPolicy } from "../../../services/cli/policy/open-policy.ts";
import type { CompiledPolicy } from "../../../services/core/policy/compiled.ts";
import { withSecret } from "../../../services/gate/gate-policy.ts";
import { openCodec } from "../../../services/sdk/open-codec.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { connectKafka, makeTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";
import { checkRun, type Verdict } from "./check-run.ts";
import { GateProcess } from "./gate-process.ts";
import { LOAD_POLICY, Load } from "./load.ts";
import { readTopics } from "./read-topics.ts";

/** A cluster that is there: one broker or three. */
export type Cluster = {
  readonly bootstrap: readonly string[];
  readonly libs: string;
  readonly brokers: readonly LocalBroker[];
};

type LocalBroker = Awaited<ReturnType<typeof startKafka>>["brokers"][number];

export type LabOptions = {
  readonly cluster: Cluster;
  readonly partitions?: number;
  readonly perSecond?: number;
  readonly replicas?: number;
  readonly seed?: number;
  /** Sections of the gates' configuration, in place of the usual ones. */
  readonly config?: Readonly<Record<string, object>>;
  /** Keys of `kafka` in the configuration. */
  readonly kafka?: Readonly<Record<string, unknown>>;
  /** False: an executor of the row's own runs what is allowed. */
  readonly executes?: boolean;
  readonly policy?: string;
};

const SECRET = "a secret that is long enough";
const SETTLED_WITHIN_MS = 120_000;
/** What has piled up on a busy machine takes its time. */
const RESTED_WITHIN_MS = 240_000;
const STRUCK_WITHIN_MS = 30_000;

export class Lab {
  readonly names: TopicNames;
  readonly load: Load;
  readonly proxy: KafkaProxy;
  readonly log: KafkaLog;
  readonly directory: string;
  readonly gates: GateProcess[] = [];
  readonly partitions: number;
  /** The gates' consumer group. */
  readonly group: string;
  faults = 0;
  /** Of those, how many struck while a transaction was open. */
  inTransaction = 0;
  /** Longest time from a fault to the next decision of the partition that waited longest, ms. */
  worstGapMs = 0;
  readonly #options: LabOptions;
  readonly #config: Record<string, unknown>;
  readonly #policy: CompiledPolicy;
  readonly #codec: AvroCodec;
  #checkedInBetween = 0;

  private constructor(parts: {
    readonly names: TopicNames;
    readonly load: Load;
    readonly proxy: KafkaProxy;
    readonly log: KafkaLog;
    readonly directory: string;
    readonly options: LabOptions;
    readonly policy: CompiledPolicy;
    readonly codec: AvroCodec;
  }) {
    const { names, load, proxy, log, directory, options, policy, codec } = parts;
    this.#codec = codec;
    this.names = names;
    this.load = load;
    this.proxy = proxy;
    this.log = log;
    this.directory = directory;
    this.#options = options;
    this.#policy = policy;
    this.partitions = options.partitions ?? 4;
    const app = uniqueName("f");
    this.group = `${app}-gate`;
    this.#config = {
      kafka: { brokers: proxy.brokers, topics: names, app, group: this.group, ...options.kafka },
      policy: { files: ["policy.yaml"] },
      executor: { group: `${app}-executor` },
      ...{ http: { port: 0 }, secret: { value: SECRET }, log: { level: "info" } },
      ...options.config,
    };
  }

  static async open(options: LabOptions): Promise<Lab> {
    const { cluster, partitions = 4, perSecond = 150, seed = 1, replicas = 1 } = options;
    const directory = mkdtempSync(join(tmpdir(), "callgate-faults-"));
    const file = join(directory, "policy.yaml");
    writeFileSync(file, options.policy ?? LOAD_POLICY);
    const names = await makeTopics(cluster.bootstrap, {
      partitions,
      config: { "retention.ms": "-1" },
      ...(replicas > 1 ? { replicas } : {}),
    });
    const proxy = await KafkaProxy.start(cluster.bootstrap);
    const log = await openTestLog(cluster.bootstrap, names);
    const kafka = connectKafka(cluster.bootstrap, { clientId: "load" });
    const secret = secretOf();
    const secrets = new Map([[secret.keyId, secret.bytes]]);
    const codec = await codecOf(options, names, secrets);
    const { executes = true } = options;
    const load = new Load({ kafka, log, names, codec, partitions, perSecond, seed, executes });
    const policy = withSecret(await openPolicy([file]), secret.keyId, secrets).compiled;
    return new Lab({ names, load, proxy, log, directory, options, policy, codec });
  }

  /** Another gate of the group; ready when it resolves. */
  async startGate(): Promise<GateProcess> {
    const gate = this.beginGate();
    await gate.ready();
    return gate;
  }

  beginGate(config: Readonly<Record<string, unknown>> = {}): GateProcess {
    const gate = new GateProcess(this.directory, { ...this.#config, ...config });
    this.gates.push(gate);
    return gate;
  }

  /** An executor of the module in the lab's directory. */
  beginExecutor(handlers: string): GateProcess {
    const command = ["executor", "--handlers", handlers];
    const executor = new GateProcess(this.directory, this.#config, command);
    this.gates.push(executor);
    return executor;
  }

  /** Stops the load and waits until all of it is decided. */
  async rest(): Promise<void> {
    this.load.stopProposing();
    await this.#settle();
  }

  /** Waits for the rule's strike, which must come: a fault that does not strike proves nothing. */
  async struck(strike: Promise<void>): Promise<void> {
    const late = sleep(STRUCK_WITHIN_MS).then(() => {
      throw new Error("the fault did not strike in time");
    });
    await Promise.race([strike, late]);
  }

  /** Counts a fault, and waits until every partition decides again. */
  async recover(struckAtMs = Date.now(), open = false): Promise<void> {
    this.faults += 1;
    if (open) this.inTransaction += 1;
    const untilMs = Date.now() + SETTLED_WITHIN_MS;
    const waiting = new Set([...Array(this.partitions).keys()]);
    while (waiting.size > 0) {
      for (const partition of [...waiting]) {
        const next = this.load.seenAtMs[partition]?.findLast((seen) => seen > struckAtMs);
        const first = this.load.seenAtMs[partition]?.find((seen) => seen > struckAtMs);
        if (next === undefined || first === undefined) continue;
        this.worstGapMs = Math.max(this.worstGapMs, first - struckAtMs);
        waiting.delete(partition);
      }
      if (Date.now() > untilMs) {
        throw new Error(
          `no decision on ${[...waiting].join(", ")} for two minutes:\n${this.logs()}`,
        );
      }
      await sleep(20);
    }
  }

  logs(): string {
    return this.gates.map((gate) => gate.log.slice(-4_000)).join("\n---\n");
  }

  /** Looks once while the load runs: what is committed must be right as far as it goes. */
  async checkNow(): Promise<readonly string[]> {
    const { problems } = await this.#judge(false);
    this.#checkedInBetween += 1;
    return problems;
  }

  /** Stops the load, waits until all is decided, and judges the whole. */
  async finish(): Promise<Verdict & { readonly checkedInBetween: number }> {
    await this.rest();
    const verdict = await this.#judge(true);
    return { ...verdict, checkedInBetween: this.#checkedInBetween };
  }

  async close(): Promise<void> {
    await Promise.all(this.gates.map((gate) => gate.kill()));
    await this.load.close();
    await this.log.close();
    await this.proxy.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Until nothing was journaled for longer than any deadline of the load's policy. */
  async #settle(): Promise<void> {
    const QUIET_MS = 6_000;
    const untilMs = Date.now() + RESTED_WITHIN_MS;
    const lastMs = () => Math.max(...this.load.seenAtMs.map((seen) => seen.at(-1) ?? 0));
    while (Date.now() - lastMs() < QUIET_MS) {
      if (Date.now() > untilMs) {
        const seen = this.load.seenAtMs.map(({ length }) => length).join(", ");
        throw new Error(`the gates did not come to rest; journal records: ${seen}\n${this.logs()}`);
      }
      await sleep(250);
    }
  }

  async #judge(finished: boolean): Promise<Verdict> {
    const { cluster } = this.#options;
    const sent = [...this.load.sent];
    const read = await readTopics(cluster.libs, cluster.bootstrap, Object.values(this.names));
    return checkRun({
      ...{ names: this.names, read, sent, finished, codec: this.#codec },
      policies: [this.#policy],
    });
  }
}

function secretOf() {
  const result = secretFrom(SECRET);
  if (!result.ok) throw new Error(result.problem.message);
  return result.secret;
}

/** As the gates write: with the registry's ids where they have one. */
async function codecOf(
  { cluster, config }: LabOptions,
  names: TopicNames,
  secrets: ReadonlyMap<string, Uint8Array>,
): Promise<AvroCodec> {
  const kafka = { brokers: [...cluster.bootstrap] };
  const read = configOf({ kafka, registry: config?.["registry"] }, "the fault suite");
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return (await openCodec(read.config, names, secrets)).codec;
}
