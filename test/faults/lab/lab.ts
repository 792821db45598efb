// The lab of one row of the fault suite: its own topics, gates, load without pause, a proxy that injects
// faults, and the judgement at the end.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { startKafka } from "../../../infra/local/start-kafka.js";
import type { KafkaLog } from "../../../services/adapters/kafka/kafka-log.ts";
import type { TopicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import type { AvroCodec } from "../../../services/wire/codec.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { connectKafka, makeTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";
import type { Stage } from "../../support/simulation/check-topics.ts";
import type { Verdict } from "./check-run.ts";
import { GateProcess } from "./gate-process.ts";
import { judge } from "./judge.ts";
import { openLabCodec, SECRET } from "./lab-codec.ts";
import { LOAD_POLICY, Load } from "./load.ts";
import { type ReaderSetup, type ReadRecord, readTopics } from "./read-topics.ts";

/** An existing cluster of one broker or three. */
export type Cluster = ReaderSetup & {
  readonly brokers: readonly LocalBroker[];
};

type LocalBroker = Awaited<ReturnType<typeof startKafka>>["brokers"][number];

export type LabOptions = {
  readonly cluster: Cluster;
  readonly partitions?: number;
  readonly perSecond?: number;
  readonly replicas?: number;
  readonly seed?: number;
  /** Sections of the gates' configuration that replace the usual ones. */
  readonly config?: Readonly<Record<string, object>>;
  /** Keys of `kafka` in the configuration. */
  readonly kafka?: Readonly<Record<string, unknown>>;
  /** False: the row has an executor of its own for allowed calls. */
  readonly executes?: boolean;
  readonly policy?: string;
  /** The checker first looks after so many faults. */
  readonly checkAfterFaults?: number;
};

/** What the checker saw during the load. */
export type Between = Pick<Verdict, "calls" | "problems">;

const POLICY_FILE = "policy.yaml";
const SETTLED_WITHIN_MS = 120_000;
/** A backlog on a busy machine takes time. */
const RESTED_WITHIN_MS = 240_000;
const STRUCK_WITHIN_MS = 30_000;
const QUIET_MS = 6_000;
/** Longer than a session and a restore: after that no gate decides any more. */
const STUCK_MS = 60_000;

/** So little that nearly every conversation is in the state store alone. */
const STATE_BYTES = 64 * 1024;
const CONVERSATIONS_MAX = 1_000_000;

export class Lab {
  readonly names: TopicNames;
  readonly load: Load;
  readonly proxy: KafkaProxy;
  readonly log: KafkaLog;
  readonly codec: AvroCodec;
  readonly directory: string;
  readonly gates: GateProcess[] = [];
  readonly partitions: number;
  /** The gates' consumer group. */
  readonly group: string;
  faults = 0;
  /** The number of faults that struck inside a transaction. */
  inTransaction = 0;
  /**
   * Longest time from a fault to the next decision of the partition that waited longest, in ms;
   * null: not measured.
   */
  worstGapMs: number | null = null;
  readonly #options: LabOptions;
  readonly #config: Record<string, unknown>;
  readonly #stateDirectories = new Map<string, GateProcess>();
  readonly #closed = new AbortController();
  #between: Promise<Between> | undefined;

  private constructor(parts: {
    readonly names: TopicNames;
    readonly load: Load;
    readonly proxy: KafkaProxy;
    readonly log: KafkaLog;
    readonly codec: AvroCodec;
    readonly directory: string;
    readonly options: LabOptions;
  }) {
    const { names, load, proxy, log, codec, directory, options } = parts;
    this.names = names;
    this.load = load;
    this.proxy = proxy;
    this.log = log;
    this.codec = codec;
    this.directory = directory;
    this.#options = options;
    this.partitions = options.partitions ?? 4;
    const app = uniqueName("f");
    this.group = `${app}-gate`;
    this.#config = {
      kafka: { brokers: proxy.brokers, topics: names, app, group: this.group, ...options.kafka },
      policy: { files: [POLICY_FILE] },
      executor: { group: `${app}-executor` },
      ...{ http: { port: 0 }, secret: { value: SECRET }, log: { level: "info" } },
      ...options.config,
    };
  }

  static async open(options: LabOptions): Promise<Lab> {
    const { cluster, partitions = 4, perSecond = 150, seed = 1, replicas = 1 } = options;
    const directory = mkdtempSync(join(tmpdir(), "callgate-faults-"));
    writeFileSync(join(directory, POLICY_FILE), options.policy ?? LOAD_POLICY);
    const names = await makeTopics(cluster.bootstrap, {
      partitions,
      config: { "retention.ms": "-1" },
      ...(replicas > 1 ? { replicas } : {}),
    });
    const proxy = await KafkaProxy.start(cluster.bootstrap);
    const log = await openTestLog(cluster.bootstrap, names);
    const kafka = connectKafka(cluster.bootstrap, { clientId: "load" });
    const codec = await openLabCodec(cluster.bootstrap, names, options.config?.["registry"]);
    const { executes = true } = options;
    const load = new Load({ kafka, log, names, codec, partitions, perSecond, seed, executes });
    return new Lab({ names, load, proxy, log, codec, directory, options });
  }

  /** Starts another gate of the group; resolves when it is ready. */
  async startGate(): Promise<GateProcess> {
    const gate = this.beginGate();
    await gate.ready();
    return gate;
  }

  beginGate(config: Readonly<Record<string, unknown>> = {}): GateProcess {
    this.#closed.signal.throwIfAborted();
    const state = { directory: this.#takeStateDirectory(), memoryBytes: STATE_BYTES };
    // By default so little memory bounds how many conversations live.
    const limits = { conversations: CONVERSATIONS_MAX };
    const gate = new GateProcess(this.directory, { ...this.#config, state, limits, ...config });
    this.#stateDirectories.set(state.directory, gate);
    this.gates.push(gate);
    return gate;
  }

  /** One that a gate has left behind, if there is one: a gate comes back to its machine. */
  #takeStateDirectory(): string {
    for (const [directory, gate] of this.#stateDirectories) {
      if (!gate.isRunning) return directory;
    }
    return `state-${this.#stateDirectories.size}`;
  }

  /** Starts an executor of the module in the lab's directory. */
  beginExecutor(handlers: string): GateProcess {
    this.#closed.signal.throwIfAborted();
    const command = ["executor", "--handlers", handlers];
    const executor = new GateProcess(this.directory, this.#config, command);
    this.gates.push(executor);
    return executor;
  }

  /** The configuration of another process of the lab. @returns the path of the file */
  writeConfig(name: string, sections: Readonly<Record<string, unknown>>): string {
    const file = join(this.directory, name);
    writeFileSync(file, JSON.stringify({ ...this.#config, ...sections }));
    return file;
  }

  /** Ends the proposals, after the checker has looked at the load. */
  async stopLoad(): Promise<void> {
    await this.#lookBetween();
    this.load.stopProposing();
  }

  /** Ends the proposals and waits until all of them are decided. */
  async rest(): Promise<void> {
    await this.stopLoad();
    await this.#settle();
  }

  /**
   * Waits until the rule strikes. A fault that does not strike proves nothing, so it is an error.
   */
  async struck(strike: Promise<void>): Promise<void> {
    const late = sleep(STRUCK_WITHIN_MS).then(() => {
      throw new Error("the fault did not strike in time");
    });
    await Promise.race([strike, late]);
  }

  /** Counts a fault, and waits until every partition decides again. */
  async recover(struckAtMs = Date.now(), open = false): Promise<void> {
    await this.decidesAgain(struckAtMs);
    this.struckOnce(open);
  }

  /** Counts a fault that no decision waits for. */
  struckOnce(open = false): void {
    this.faults += 1;
    if (open) this.inTransaction += 1;
    // Further strikes do not wait for this one.
    if (this.faults >= (this.#options.checkAfterFaults ?? 1)) void this.#lookBetween();
  }

  /** The time without a decision; the longest is reported. */
  waited(ms: number): void {
    this.worstGapMs = Math.max(this.worstGapMs ?? 0, ms);
  }

  /**
   * Waits until every partition has decided a proposal that came after the fault: what had been read before may
   * still be decided, and results and ticks are no decisions.
   */
  async decidesAgain(struckAtMs: number): Promise<void> {
    const untilMs = Date.now() + SETTLED_WITHIN_MS;
    const waiting = new Set([...Array(this.partitions).keys()]);
    while (waiting.size > 0) {
      for (const partition of [...waiting]) {
        const decisions = this.load.decisions[partition] ?? [];
        const first = decisions.find(({ appendedAtMs }) => appendedAtMs > struckAtMs);
        if (first === undefined) continue;
        this.waited(first.seenAtMs - struckAtMs);
        waiting.delete(partition);
      }
      if (Date.now() > untilMs) {
        throw new Error(
          `no decision on ${[...waiting].join(", ")} for two minutes:\n${this.logs()}`,
        );
      }
      await this.#pause(20);
    }
  }

  logs(): string {
    return this.gates.map((gate) => gate.log.slice(-4_000)).join("\n---\n");
  }

  /** Checks once during the load that everything committed so far is right. */
  #lookBetween(): Promise<Between> {
    this.#between ??= this.#judgeGoingOn();
    return this.#between;
  }

  async #judgeGoingOn(): Promise<Between> {
    try {
      const before = this.load.sent.length;
      const { calls, problems } = await this.#judge("going-on");
      // The brokers may be down now.
      await this.#until(
        () => this.load.sent.length > before,
        "void: the load did not run meanwhile",
      );
      return { calls, problems };
    } catch (error) {
      return { calls: 0, problems: [error instanceof Error ? error.message : String(error)] };
    }
  }

  /** The journal of each partition, as the Java client reads it. */
  async journals(): Promise<readonly (readonly JournalRecord[])[]> {
    const { decisions } = this.names;
    const read = await readTopics(this.#options.cluster, [decisions]);
    const decoded = ({ value }: ReadRecord) => this.codec.decodeJournal(value ?? new Uint8Array());
    return (read.get(decisions)?.partitions ?? []).map((records) => records.map(decoded));
  }

  /** Ends the load, waits until everything is decided, and judges the whole run. */
  async finish(): Promise<Verdict & { readonly between: Between }> {
    await this.rest();
    return { ...(await this.#judge("finished")), between: await this.#lookBetween() };
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error("the row is over"));
    await Promise.all(this.gates.map((gate) => gate.kill()));
    await this.load.close();
    await this.log.close();
    await this.proxy.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /**
   * Until all is decided, and nothing was journaled for longer than any deadline of the load's policy. Where
   * nothing at all is journaled any more the judge says what is missing.
   */
  async #settle(): Promise<void> {
    const startedMs = Date.now();
    const lastMs = () => Math.max(startedMs, ...this.load.seenAtMs.map((seen) => seen.at(-1) ?? 0));
    for (let quietMs = 0; quietMs < STUCK_MS; quietMs = Date.now() - lastMs()) {
      if (quietMs >= QUIET_MS && this.load.isDecided()) return;
      if (Date.now() > startedMs + RESTED_WITHIN_MS) {
        const seen = this.load.seenAtMs.map(({ length }) => length).join(", ");
        throw new Error(`the gates did not come to rest; journal records: ${seen}`);
      }
      await this.#pause(250);
    }
  }

  async #until(condition: () => boolean, otherwise: string): Promise<void> {
    for (const untilMs = Date.now() + SETTLED_WITHIN_MS; !condition(); await this.#pause(100)) {
      if (Date.now() > untilMs) throw new Error(otherwise);
    }
  }

  /** Rejects once the lab is closed, so that nothing of a row goes on after its time. */
  async #pause(ms: number): Promise<void> {
    this.#closed.signal.throwIfAborted();
    await sleep(ms);
  }

  #judge(stage: Stage): Promise<Verdict> {
    const { cluster, config } = this.#options;
    const { libs, classes, bootstrap } = cluster;
    const order = { libs, classes, bootstrap, names: this.names, sent: [...this.load.sent], stage };
    const policyFile = join(this.directory, POLICY_FILE);
    return judge({ ...order, policyFile, registry: config?.["registry"] }, this.#closed.signal);
  }
}
