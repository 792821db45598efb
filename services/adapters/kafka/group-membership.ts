/**
 * Our place in the consumer group of the gates: who is there, and which partition numbers are ours.
 * kafkajs' consumer is used for this alone; the inputs are read by the group-less reader, so every
 * partition is paused before the first fetch (docs/adr/0007).
 *
 * M1 nothing throws in a listener of the consumer: it would end the consumer for good (K18).
 * M2 `assignment` changes only in GROUP_JOIN, and becomes empty only when the group is left or lost.
 *    While the group rebalances what was ours stays ours: tasks go on, and whoever gets a number
 *    instead of us fences us.
 * M3 a grant ends when its number goes, and never comes back: the same number again is another grant
 *    (K13).
 */
import type { Consumer, ConsumerGroupJoinEvent, Kafka } from "kafkajs";
import { FatalError } from "../../runtime/errors.ts";
import type { Assignment, Membership } from "../../runtime/membership.ts";
import type { Logger } from "../../runtime/ports.ts";
import { INPUT_TOPICS } from "../../runtime/topics.ts";
import { RETRY } from "./client.ts";
import type { KafkaSafeguards } from "./kafka-safeguards.ts";
import { loadKafkajs } from "./mends.ts";
import { createNumberAssigner } from "./partition-assigner.ts";
import type { TopicNames } from "./topic-names.ts";
import { Watchdog } from "./watchdog.ts";

export type GroupSettings = {
  readonly group: string;
  /** A member that was silent for so long has lost its numbers. */
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
};

export type GroupContext = {
  /** Its own client: kafkajs keeps marks in it. Its requests must time out within the session. */
  readonly kafka: Kafka;
  readonly names: TopicNames;
  readonly settings: GroupSettings;
  readonly logger: Logger;
  readonly safeguards: KafkaSafeguards;
};

/** The right to one number, from an assignment until the number goes. */
export type Grant = { readonly partition: number; readonly epoch: number };

/** How long the fetch loop sleeps where everything is paused: heartbeats are looked at so often. */
const LOOP_MS = 100;
/** Partitions that were added are seen after this time at the latest (K9). */
const METADATA_MAX_AGE_MS = 10_000;
const REBALANCE_TIMEOUT_MS = 10_000;
const NONE: Assignment = { epoch: 0, numbers: [] };

type Listener = (assignment: Assignment) => void;

export class GroupMembership implements Membership {
  readonly #context: GroupContext;
  readonly #consumer: Consumer;
  readonly #watchdog: Watchdog;
  readonly #grants = new Map<number, Grant>();
  readonly #waiting = new Set<() => void>();
  readonly failed: Promise<Error>;
  #fail: (error: Error) => void = () => undefined;
  #listener: Listener = () => undefined;
  #assignment: Assignment = NONE;
  #joined = false;
  #left: Promise<void> | null = null;
  #generation = -1;
  /** When the heartbeat was sent that was answered last. */
  #heartbeatSentAtMs = 0;
  #heartbeatAnsweredSentAtMs = 0;

  constructor(context: GroupContext) {
    this.#context = context;
    this.failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
    this.#watchdog = new Watchdog({
      limitMs: context.settings.sessionTimeoutMs,
      onStuck: (silentMs) => {
        this.#fail(
          new FatalError("unexpected", `the group's loop did not turn for ${silentMs} ms`),
        );
      },
    });
    this.#consumer = this.#createConsumer();
    this.#listen();
  }

  get assignment(): Assignment {
    return this.#assignment;
  }

  get joined(): boolean {
    return this.#joined;
  }

  /** The grant of a number that is ours. */
  grantOf(partition: number): Grant | undefined {
    return this.#grants.get(partition);
  }

  isCurrent(grant: Grant): boolean {
    return this.#grants.get(grant.partition) === grant;
  }

  /**
   * Whether the group says, by a heartbeat that was sent after `sinceMs`, that the grant is still ours
   * (K5). False where it does not say so within two session times.
   */
  async confirm(grant: Grant, sinceMs: number): Promise<boolean> {
    const untilMs = Date.now() + 2 * this.#context.settings.sessionTimeoutMs;
    while (this.isCurrent(grant)) {
      if (this.#heartbeatAnsweredSentAtMs > sinceMs) return true;
      const leftMs = untilMs - Date.now();
      if (leftMs <= 0) return false;
      await this.#change(leftMs);
    }
    return false;
  }

  async join(listener: Listener): Promise<void> {
    this.#listener = listener;
    const topics = INPUT_TOPICS.map((topic) => this.#context.names[topic]);
    await this.#consumer.connect();
    await this.#consumer.subscribe({ topics, fromBeginning: true });
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      // Nothing comes here but what another broker's fetch had on its way when we paused (K12, K18).
      eachBatch: () => Promise.resolve(),
    });
    const failed = this.failed.then((error) => Promise.reject(error));
    while (!this.#joined) await Promise.race([this.#change(LOOP_MS), failed]);
  }

  leave(): Promise<void> {
    this.#left ??= this.#leave();
    return this.#left;
  }

  async #leave(): Promise<void> {
    this.#watchdog.disarm();
    this.#become([]);
    this.#joined = false;
    try {
      await this.#consumer.disconnect();
    } catch (error) {
      // The group notices our absence after the session time-out instead of now.
      this.#context.logger.warn("the group could not be left", { message: messageOf(error) });
    }
  }

  #createConsumer(): Consumer {
    const { kafka, settings, safeguards } = this.#context;
    const claim = (): { readonly numbers: readonly number[]; readonly generation: number } => {
      // The only sure sign of a rebalance, whatever started it: no event comes before it (K13).
      this.#watchdog.disarm();
      return { numbers: this.#assignment.numbers, generation: this.#generation };
    };
    const { roundRobin } = loadKafkajs().PartitionAssigners;
    return kafka.consumer({
      groupId: settings.group,
      partitionAssigners: [safeguards.assignNumbers ? createNumberAssigner(claim) : roundRobin],
      sessionTimeout: settings.sessionTimeoutMs,
      heartbeatInterval: settings.heartbeatIntervalMs,
      rebalanceTimeout: Math.max(REBALANCE_TIMEOUT_MS, settings.sessionTimeoutMs),
      maxWaitTimeInMs: LOOP_MS,
      metadataMaxAge: METADATA_MAX_AGE_MS,
      allowAutoTopicCreation: false,
      retry: RETRY,
    });
  }

  #listen(): void {
    const { events } = this.#consumer;
    const guarded =
      <E>(listener: (event: E) => void) =>
      (event: E): void => {
        try {
          listener(event);
        } catch (error) {
          this.#context.logger.error("a listener of the group threw", {
            message: messageOf(error),
          });
        }
      };
    this.#consumer.on(
      events.GROUP_JOIN,
      guarded((event) => this.#onJoin(event)),
    );
    this.#consumer.on(
      events.FETCH_START,
      guarded(() => this.#watchdog.turn()),
    );
    this.#consumer.on(
      events.REBALANCING,
      guarded(() => this.#watchdog.disarm()),
    );
    this.#consumer.on(
      events.REQUEST,
      guarded(({ payload: { apiName, sentAt } }) => {
        if (apiName === "Heartbeat") this.#heartbeatSentAtMs = sentAt;
      }),
    );
    this.#consumer.on(
      events.HEARTBEAT,
      guarded(({ payload }) => {
        this.#generation = payload.groupGenerationId;
        this.#heartbeatAnsweredSentAtMs = this.#heartbeatSentAtMs;
        this.#wake();
      }),
    );
    this.#consumer.on(
      events.CRASH,
      guarded(({ payload: { error, restart } }) => this.#onCrash(error, restart)),
    );
  }

  #onJoin({ payload: { memberAssignment } }: ConsumerGroupJoinEvent): void {
    const topics = Object.entries(memberAssignment).map(([topic, partitions]) => ({
      topic,
      partitions: [...partitions],
    }));
    // Before the first fetch of this assignment: listeners run within the join (K2, K12).
    if (topics.length > 0) this.#consumer.pause(topics);
    if (this.#left !== null) return;
    this.#become(this.#whole(memberAssignment));
    this.#joined = true;
    this.#wake();
  }

  /** Numbers that we have of every input topic; part of a number is not run (K17). */
  #whole(memberAssignment: ConsumerGroupJoinEvent["payload"]["memberAssignment"]): number[] {
    const { names, logger, safeguards } = this.#context;
    const inputs = INPUT_TOPICS.map((topic) => names[topic]);
    const all = new Set(Object.values(memberAssignment).flat());
    const numbers: number[] = [];
    for (const number of all) {
      const has = inputs.filter((name) => memberAssignment[name]?.includes(number));
      const isOurs = safeguards.assignNumbers
        ? has.length === inputs.length
        : has.includes(names.proposals);
      if (isOurs) numbers.push(number);
      else logger.error("part of a partition number was assigned; it is not run", { number });
    }
    return numbers.sort((a, b) => a - b);
  }

  #onCrash(error: Error, restart: boolean): void {
    this.#watchdog.disarm();
    const { logger } = this.#context;
    const message = messageOf(error);
    if (restart) {
      logger.warn("the group was lost and is joined again", { message });
      return;
    }
    this.#become([]);
    this.#joined = false;
    // kafkajs does not come back from this: another process must (K18).
    this.#fail(new FatalError("unexpected", `the group's client ended: ${message}`));
  }

  #become(numbers: readonly number[]): void {
    const epoch = this.#assignment.epoch + 1;
    this.#assignment = { epoch, numbers };
    for (const partition of this.#grants.keys()) {
      if (!numbers.includes(partition)) this.#grants.delete(partition);
    }
    for (const partition of numbers) {
      if (!this.#grants.has(partition)) this.#grants.set(partition, { partition, epoch });
    }
    this.#listener(this.#assignment);
    this.#wake();
  }

  #change(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      this.#waiting.add(done);
    });
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
