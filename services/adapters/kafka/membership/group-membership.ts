/**
 * Membership in the consumer group of the gates: who is there, and which partitions are ours.
 * kafkajs' consumer serves for this alone. Inputs are read without the group, so every partition is
 * paused before the first fetch (docs/adr/0007).
 *
 * MEMBER-1 No listener of the consumer throws: that would end the consumer for good (KAFKA-18).
 * MEMBER-2 `assignment` changes only in GROUP_JOIN, and becomes empty only when the group is left
 *    or lost. While the group rebalances, our partitions stay ours: tasks go on, and the next owner
 *    of a partition fences us.
 * MEMBER-3 A grant ends when its partition goes, and never comes back: the same partition, assigned
 *    again, has another grant (KAFKA-13).
 */
import type {
  Consumer,
  ConsumerGroupJoinEvent,
  ConsumerHeartbeatEvent,
  Kafka,
  RequestEvent,
} from "kafkajs";
import { FatalError } from "../../../runtime/errors.ts";
import type { Assignment, Membership } from "../../../runtime/membership.ts";
import type { Logger } from "../../../runtime/ports.ts";
import { INPUT_TOPICS } from "../../../runtime/topics.ts";
import { Watchdog } from "../../../runtime/watchdog.ts";
import { RETRY } from "../client.ts";
import { mapKafkaError, protocolCode } from "../map-error.ts";
import type { TopicNames } from "../topics/topic-names.ts";
import { GroupPulse, REBALANCE_TIMEOUT_MS } from "./group-pulse.ts";
import {
  assignedPartitions,
  createPartitionAssigner,
  partitionsForOneMore,
} from "./partition-assigner.ts";

export type GroupSettings = {
  readonly group: string;
  /** A member that sends no heartbeat for this time loses its partitions. */
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
};

export type GroupContext = {
  /**
   * Creates a client for this group alone, since kafkajs stores offsets in it. Its request time-out
   * must be shorter than the session.
   */
  readonly newKafka: () => Kafka;
  readonly names: TopicNames;
  readonly settings: GroupSettings;
  readonly logger: Logger;
};

/** The ownership of one partition, from the assignment that brings it to the one that takes it. */
export type Grant = { readonly partition: number; readonly epoch: number };

/** How long the fetch loop sleeps while all is paused; it sends due heartbeats this often. */
const LOOP_MS = 100;
/** Added partitions are noticed after this time at the latest (KAFKA-9). */
const METADATA_MAX_AGE_MS = 10_000;
/**
 * The fetch loop sends the heartbeats, so a member whose loop hangs loses its partitions within a
 * session. The watchdog ends a process whose loop would never come back. An unreachable cluster
 * also stops the loop and must not be mistaken for that, so the limit is long (KAFKA-19).
 */
const LOOP_IDLE_MS_MAX = 120_000;
const PAUSE_MS_MIN = 250;
const PAUSE_MS_MAX = 5_000;
const CAUSES_MAX = 8;
const PROGRAMMING_ERRORS = ["TypeError", "RangeError", "ReferenceError", "SyntaxError"];
const INCONSISTENT_GROUP_PROTOCOL = 23;
const NONE: Assignment = { epoch: 0, partitions: [] };

type Listener = (assignment: Assignment) => void;

export class GroupMembership implements Membership {
  readonly isShared = true;
  readonly #context: GroupContext;
  #consumer: Consumer | null = null;
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
  readonly #pulse: GroupPulse;

  constructor(context: GroupContext) {
    this.#context = context;
    this.#pulse = new GroupPulse(context.settings.sessionTimeoutMs);
    this.failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
    this.#watchdog = new Watchdog({
      limitMs: Math.max(context.settings.sessionTimeoutMs, LOOP_IDLE_MS_MAX),
      onStuck: (idleMs) => {
        this.#fail(new FatalError("unexpected", `the group's loop hung for ${idleMs} ms`));
      },
    });
  }

  get assignment(): Assignment {
    return this.#assignment;
  }

  get joined(): boolean {
    return this.#joined && !this.#pulse.isIdle(Date.now());
  }

  /** The grant of a partition that is ours. */
  grantOf(partition: number): Grant | undefined {
    return this.#grants.get(partition);
  }

  isCurrent(grant: Grant): boolean {
    return this.#grants.get(grant.partition) === grant;
  }

  /**
   * True once the group has answered a heartbeat that was sent after `sinceMs`: the grant is still
   * ours (KAFKA-5). False where no such answer comes within two session time-outs.
   */
  async confirm(grant: Grant, sinceMs: number): Promise<boolean> {
    const untilMs = Date.now() + 2 * this.#context.settings.sessionTimeoutMs;
    while (this.isCurrent(grant)) {
      if (this.#pulse.answeredSentAtMs > sinceMs) return true;
      const leftMs = untilMs - Date.now();
      if (leftMs <= 0) return false;
      await this.#change(leftMs);
    }
    return false;
  }

  async expected(partitionCount: number): Promise<readonly number[]> {
    const { newKafka, settings, logger } = this.#context;
    const admin = newKafka().admin();
    try {
      await admin.connect();
      const { groups } = await admin.describeGroups([settings.group]);
      const members = groups[0]?.members ?? [];
      const partitions = members.map(({ memberAssignment }) =>
        assignedPartitions(memberAssignment),
      );
      return partitionsForOneMore(partitions, partitionCount);
    } catch (error) {
      logger.info("the group could not be described", { message: messageOf(error) });
      return [];
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }

  async join(listener: Listener): Promise<void> {
    this.#listener = listener;
    void this.#stayIn();
    while (!this.#joined && this.#left === null) {
      const failed = await Promise.race([this.#change(LOOP_MS), this.failed]);
      if (failed !== undefined) throw failed;
    }
  }

  /**
   * Runs one consumer after the other. kafkajs' own restart after a crash gives up while the
   * cluster is unreachable.
   */
  async #stayIn(): Promise<void> {
    for (let pauseMs = PAUSE_MS_MIN; this.#left === null; ) {
      const { epoch } = this.#assignment;
      const error = await this.#consume().catch((reason: unknown) => reason);
      if (this.#left !== null) return;
      const ended = asEnd(error);
      if (ended !== null) {
        this.#become([]);
        this.#joined = false;
        this.#fail(ended);
        return;
      }
      const message = messageOf(error);
      this.#context.logger.warn("the group was lost and is joined again", { message });
      pauseMs = this.#assignment.epoch > epoch ? PAUSE_MS_MIN : pauseMs;
      await this.#change(pauseMs);
      pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
    }
  }

  /** Resolves with the error that ended the consumer. */
  async #consume(): Promise<Error> {
    const consumer = this.#createConsumer();
    this.#consumer = consumer;
    const crashed = this.#listen(consumer);
    const topics = INPUT_TOPICS.map((topic) => this.#context.names[topic]);
    try {
      await consumer.connect();
      await consumer.subscribe({ topics, fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        // All partitions are paused; only a fetch in flight from another broker can arrive here
        // (KAFKA-12, KAFKA-18).
        eachBatch: () => Promise.resolve(),
      });
    } catch (error) {
      void consumer.disconnect().catch(() => undefined);
      throw error;
    }
    return crashed;
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
      await this.#consumer?.disconnect();
    } catch (error) {
      // The group then notices our absence only after the session time-out.
      this.#context.logger.warn("the group could not be left", { message: messageOf(error) });
    }
  }

  #createConsumer(): Consumer {
    const { newKafka, settings } = this.#context;
    const claim = (): { readonly partitions: readonly number[]; readonly generation: number } => {
      // The only sure sign of a rebalance: no event of the consumer comes before it (KAFKA-13).
      this.#watchdog.disarm();
      this.#pulse.joining();
      return { partitions: this.#assignment.partitions, generation: this.#generation };
    };
    return newKafka().consumer({
      groupId: settings.group,
      partitionAssigners: [createPartitionAssigner(claim)],
      sessionTimeout: settings.sessionTimeoutMs,
      heartbeatInterval: settings.heartbeatIntervalMs,
      rebalanceTimeout: Math.max(REBALANCE_TIMEOUT_MS, settings.sessionTimeoutMs),
      maxWaitTimeInMs: LOOP_MS,
      metadataMaxAge: METADATA_MAX_AGE_MS,
      allowAutoTopicCreation: false,
      retry: { ...RETRY, restartOnFailure: async () => false },
    });
  }

  /** Resolves when the consumer has ended; kafkajs does not revive it (KAFKA-18). */
  #listen(consumer: Consumer): Promise<Error> {
    const { events } = consumer;
    const guarded =
      <E>(listener: (event: E) => void) =>
      (event: E): void => {
        if (consumer !== this.#consumer) return;
        try {
          listener(event);
        } catch (error) {
          this.#context.logger.error("a listener of the group threw", {
            message: messageOf(error),
          });
        }
      };
    const onJoin = guarded((event: ConsumerGroupJoinEvent) => this.#onJoin(consumer, event));
    const onTurn = guarded(() => this.#watchdog.turn());
    const onRebalance = guarded(() => this.#watchdog.disarm());
    const onRequest = guarded(({ payload: { apiName, sentAt } }: RequestEvent) => {
      if (apiName === "Heartbeat") this.#pulse.heartbeatSent(sentAt);
    });
    const onHeartbeat = guarded(({ payload }: ConsumerHeartbeatEvent) => {
      this.#generation = payload.groupGenerationId;
      this.#pulse.heartbeatAnswered();
      this.#wake();
    });
    consumer.on(events.GROUP_JOIN, onJoin);
    consumer.on(events.FETCH_START, onTurn);
    consumer.on(events.REBALANCING, onRebalance);
    consumer.on(events.REQUEST, onRequest);
    consumer.on(events.HEARTBEAT, onHeartbeat);
    return new Promise((resolve) => {
      consumer.on(events.CRASH, ({ payload: { error } }) => {
        this.#watchdog.disarm();
        this.#pulse.ended();
        resolve(error);
      });
    });
  }

  #onJoin(consumer: Consumer, { payload: { memberAssignment } }: ConsumerGroupJoinEvent): void {
    const topics = Object.entries(memberAssignment).map(([topic, partitions]) => ({
      topic,
      partitions: [...partitions],
    }));
    // Listeners run within the join, so this comes before the assignment's first fetch
    // (KAFKA-2, KAFKA-12).
    if (topics.length > 0) consumer.pause(topics);
    if (this.#left !== null) return;
    this.#become(this.#completePartitions(memberAssignment));
    this.#joined = true;
    this.#pulse.joined(Date.now());
    this.#wake();
  }

  /** The partitions that were assigned in every input topic; others are not run (KAFKA-17). */
  #completePartitions(
    memberAssignment: ConsumerGroupJoinEvent["payload"]["memberAssignment"],
  ): number[] {
    const { names, logger } = this.#context;
    const inputs = INPUT_TOPICS.map((topic) => names[topic]);
    const all = new Set(Object.values(memberAssignment).flat());
    const partitions: number[] = [];
    for (const partition of all) {
      const has = inputs.filter((name) => memberAssignment[name]?.includes(partition));
      if (has.length === inputs.length) partitions.push(partition);
      else
        logger.error("a partition was assigned in some topics only; it is not run", { partition });
    }
    return partitions.sort((a, b) => a - b);
  }

  #become(partitions: readonly number[]): void {
    const epoch = this.#assignment.epoch + 1;
    this.#assignment = { epoch, partitions };
    for (const partition of this.#grants.keys()) {
      if (!partitions.includes(partition)) this.#grants.delete(partition);
    }
    for (const partition of partitions) {
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

/** The error that must end the process, since joining again cannot help; null: join again. */
function asEnd(error: unknown): FatalError | null {
  for (let at = error, depth = 0; at instanceof Error && depth < CAUSES_MAX; depth += 1) {
    if (PROGRAMMING_ERRORS.includes(at.name)) {
      return new FatalError("unexpected", `the group's client ended: ${at.message}`, {
        cause: error,
      });
    }
    at = at.cause;
  }
  if (protocolCode(error) === INCONSISTENT_GROUP_PROTOCOL) {
    const text =
      "another program is in the gates' consumer group: give each program a group of its own";
    return new FatalError("log_mismatch", text, { cause: error });
  }
  const mapped = mapKafkaError(error, "joining the group");
  return mapped instanceof FatalError ? mapped : null;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
