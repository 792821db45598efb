import { setTimeout as setTimer } from "node:timers/promises";
import type { Kafka } from "kafkajs";
import { FatalError, type PipelineError, RetryableError } from "../../runtime/errors.ts";
import type {
  Appended,
  Log,
  OutgoingRecord,
  ReadLimits,
  ReadResult,
  WaitPosition,
} from "../../runtime/ports.ts";
import { isInputTopic, TOPICS, type Topic } from "../../runtime/topics.ts";
import { allowManyListeners } from "../system/many-listeners.ts";
import { AppendQueue } from "./append-queue.ts";
import { ClusterLink, type OffsetKind } from "./cluster-link.ts";
import { mapKafkaError } from "./map-error.ts";
import { CONTROL } from "./patches/kafkajs-internals.ts";
import { fetchRequest } from "./records/fetch-request.ts";
import { assertAnswered, Fetcher, PARTITION_BYTES_MAX, POLL_MS } from "./records/fetcher.ts";
import type { Track } from "./records/tracks.ts";
import { Tracks } from "./records/tracks.ts";
import { findChange, type TopicFacts, topicFacts } from "./topics/topic-facts.ts";
import type { TopicNames } from "./topics/topic-names.ts";

export type KafkaLogOptions = {
  readonly kafka: Kafka;
  readonly names: TopicNames;
  /** The topics that are used and must exist; absent: all. */
  readonly topics?: readonly Topic[];
  readonly clientId: string;
  readonly requestTimeoutMs: number;
  /** How often the log compares the topics with their state at the start. */
  readonly watchMs?: number;
};

const WATCH_MS = 10_000;
/** How long a read retries before it fails: longer than an election of a leader takes. */
const TRY_MS_MAX = 10_000;
/**
 * How long a partition may seem to end before an offset that was read. A deposed leader answers so
 * until its next heartbeat (2 s) tells it that it was deposed.
 */
const SHORTER_MS_MAX = 3_000;
const PAUSE_MS_MIN = 3;
const PAUSE_MS_MAX = 250;
/** How long `endOffset` waits for the transactions that were open when it was called. */
const STABLE_MS_MAX = 20_000;
/** A poll that is in flight for longer no longer shows that a partition has nothing new. */
const POLL_TRUST_MS = POLL_MS + 400;
/** For how long a broker's answer that a partition has nothing new stays valid. */
const END_TRUST_MS = 20;
const OUT_OF_RANGE = 1;

/** Connects and checks the topics. @throws PipelineError (runtime/errors.ts). */
export async function openKafkaLog(options: KafkaLogOptions): Promise<KafkaLog> {
  const topics = options.topics ?? TOPICS;
  const names = topics.map((topic) => options.names[topic]);
  const makeLink = (): ClusterLink =>
    new ClusterLink(options.kafka, names, options.requestTimeoutMs);
  const links = [makeLink(), makeLink()] as const;
  try {
    await links[0].connect();
    const facts = topicFacts(await links[0].describe(), options.names, topics);
    return new KafkaLog(options, links, facts);
  } catch (error) {
    await links[0].close();
    throw mapKafkaError(error, "describing the topics");
  }
}

/**
 * The log in a Kafka cluster. It reads without a consumer group, by long polls that all positions
 * of this process share, and buffers the records, so that a read seldom waits.
 */
export class KafkaLog implements Log {
  readonly partitions: number;
  readonly clusterId: string;
  readonly #facts: TopicFacts;
  readonly #names: TopicNames;
  readonly #link: ClusterLink;
  readonly #links: readonly [ClusterLink, ClusterLink];
  readonly #tracks: Tracks;
  readonly #fetcher: Fetcher;
  readonly #appends: AppendQueue;
  readonly #watch: NodeJS.Timeout;
  readonly #closing = new AbortController();
  #failure: FatalError | null = null;

  /** Use `openKafkaLog`. */
  constructor(
    options: KafkaLogOptions,
    links: readonly [ClusterLink, ClusterLink],
    facts: TopicFacts,
  ) {
    // Every waiting reader of every partition adds a listener.
    allowManyListeners(this.#closing.signal);
    this.#facts = facts;
    this.#names = options.names;
    this.partitions = facts.partitions;
    this.clusterId = facts.clusterId;
    this.#links = links;
    this.#link = links[0];
    this.#tracks = new Tracks(nowMs);
    this.#fetcher = new Fetcher(links, this.#tracks, nowMs);
    this.#appends = new AppendQueue({
      ...options,
      untilVisible: ({ topic, partition }, { offset }) =>
        // The records are committed, whether or not a reader saw them in time.
        this.#stableFrom(topic, partition, offset + 1).then(
          () => undefined,
          () => undefined,
        ),
    });
    this.#watch = setInterval(() => void this.#look(), options.watchMs ?? WATCH_MS).unref();
  }

  topicId(topic: Topic): string {
    return this.#facts.ids.get(topic) ?? "";
  }

  async append(records: readonly OutgoingRecord[]): Promise<readonly Appended[]> {
    this.#assertOpen();
    for (const { topic, partition } of records) this.#assertPartition(topic, partition);
    return this.#appends.append(records);
  }

  async read(
    topic: Topic,
    partition: number,
    fromOffset: number,
    limits: ReadLimits,
  ): Promise<ReadResult> {
    this.#assertOpen();
    this.#assertPartition(topic, partition);
    const name = this.#names[topic];
    const { track: first, isNew } = this.#tracks.at(name, partition, fromOffset);
    // A reader that comes back is fetched ahead for; a single read is not.
    if (!isNew) first.following = true;
    // What others wrote must not close a partition; a journal that cannot be read must.
    const onUnreadable = isInputTopic(topic) ? "mark" : "throw";
    const fromMs = nowMs();
    for (let track = first, at = fromOffset, pauseMs = PAUSE_MS_MIN; ; ) {
      // While this read waited, another reader at the same offset may have taken the records.
      if (track.readFrom !== at) track = this.#tracks.at(name, partition, at).track;
      const { records, nextOffset } = track.take(limits, onUnreadable);
      at = nextOffset;
      if (records.length > 0 || isAtEnd(track)) {
        this.#follow(track);
        return { records, nextOffset, endOffset: Math.max(track.end, nextOffset) };
      }
      try {
        await this.#fill(track);
      } catch (error) {
        this.#assertOpen();
        const failure = mapKafkaError(error, `reading \`${track.name}\` partition ${partition}`);
        if (nowMs() - fromMs >= patienceMs(failure)) throw failure;
        await this.#lookAgainAfter(pauseMs);
        pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
      }
      this.#assertOpen();
    }
  }

  /**
   * Every record that was appended before the call is below the offset or was aborted: the call
   * waits for the transactions that are open now. In an input topic, where transactions of others
   * may stay open for long, it waits only if it is asked for the whole topic; otherwise it returns
   * the end of what can be read.
   */
  async endOffset(topic: Topic, partition: number, scope?: "whole"): Promise<number> {
    const waits = scope === "whole" || !isInputTopic(topic);
    const latest = waits ? await this.#offset(topic, partition, "latest") : 0;
    return this.#stableFrom(topic, partition, latest);
  }

  startOffset(topic: Topic, partition: number): Promise<number> {
    return this.#offset(topic, partition, "earliest");
  }

  /** The timers do not keep the process alive. */
  waitForNew(
    positions: readonly WaitPosition[],
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<void> {
    if (this.#isStopped || signal?.aborted === true) return Promise.resolve();
    const tracks: Track[] = [];
    for (const { topic, partition, offset } of positions) {
      // The read that follows reports what is wrong with the partition.
      if (!this.#hasPartition(partition)) return Promise.resolve();
      const { track } = this.#tracks.at(this.#names[topic], partition, offset);
      if (track.isReady) return Promise.resolve();
      track.following = true;
      tracks.push(track);
    }
    this.#fetcher.poke();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        for (const stop of stops) stop();
        signal?.removeEventListener("abort", done);
        this.#closing.signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      timer.unref();
      const stops = tracks.map((track) => track.onReady(done));
      signal?.addEventListener("abort", done);
      this.#closing.signal.addEventListener("abort", done);
    });
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    clearInterval(this.#watch);
    this.#fetcher.close();
    this.#tracks.close();
    await this.#appends.close();
    await Promise.all(this.#links.map((link) => link.close()));
  }

  /**
   * Like `close`, for a cluster that does not answer: appends fail and their connections end now.
   */
  abandon(): void {
    this.close().catch(() => undefined);
    this.#appends.abandon();
  }

  /** Fills an empty track: from the poll in flight, or by a separate fetch. */
  async #fill(track: Track): Promise<void> {
    if (track.inFlightSinceMs !== null && nowMs() - track.inFlightSinceMs < POLL_TRUST_MS) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          stop();
          resolve();
        };
        const stop = track.onReady(done);
        const timer = setTimeout(done, END_TRUST_MS);
      });
      if (track.isReady) return;
    }
    await this.#fetchNow(track);
  }

  async #fetchNow(track: Track): Promise<void> {
    const { name, partition, fetchFrom } = track;
    const leader = this.#link.leaderOf(name, partition);
    if (leader === undefined) throw new Error("the partition has no leader");
    const bytesMax = PARTITION_BYTES_MAX;
    const positions = [{ topic: name, partition, offset: fetchFrom, bytesMax }];
    const request = fetchRequest({ positions, waitMs: 0, bytesMax });
    const [answer] = await this.#link.send(leader, CONTROL, request);
    if (answer?.errorCode === OUT_OF_RANGE) await this.#explainRange(track, fetchFrom);
    assertAnswered(answer);
    const before = track.end;
    track.feed(answer, fetchFrom, nowMs());
    if (!track.isReady && track.fetchFrom === fetchFrom && before > fetchFrom) {
      throw new Error(`the leader does not show the records up to ${before} yet`);
    }
  }

  /**
   * No position is ever reset: the records at the offset are gone, and a person must know of it.
   */
  async #explainRange(track: Track, offset: number): Promise<void> {
    const { name, partition } = track;
    const start = await this.#link.offset(name, partition, "earliest");
    const end = await this.#link.offset(name, partition, "latest");
    const context = { topic: name, partition, offset, start, end };
    const location = `\`${name}\` partition ${partition}`;
    if (offset < start) {
      const text = `${location}: the records from ${offset} up to ${start} were deleted`;
      throw new FatalError("input_out_of_reach", text, { context });
    }
    if (offset > end) {
      const text = `${location} ends at ${end}, before ${offset}: it was truncated or created anew`;
      throw new FatalError("log_mismatch", text, { context });
    }
  }

  #follow(track: Track): void {
    if (track.following && track.inFlightSinceMs === null && track.wantsMore) this.#fetcher.poke();
  }

  async #offset(topic: Topic, partition: number, kind: OffsetKind): Promise<number> {
    this.#assertOpen();
    this.#assertPartition(topic, partition);
    const name = this.#names[topic];
    const untilMs = nowMs() + TRY_MS_MAX;
    for (let pauseMs = PAUSE_MS_MIN; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
      try {
        return await this.#link.offset(name, partition, kind);
      } catch (error) {
        this.#assertOpen();
        const failure = mapKafkaError(error, `reading the offsets of \`${name}\``);
        if (failure.kind !== "retry" || nowMs() > untilMs) throw failure;
        await this.#lookAgainAfter(pauseMs);
      }
    }
  }

  /** Pauses, then refreshes the metadata. A log that was closed meanwhile opens no connection. */
  async #lookAgainAfter(pauseMs: number): Promise<void> {
    await sleep(pauseMs, this.#closing.signal);
    this.#assertOpen();
    await this.#link.refresh().catch(() => undefined);
    this.#assertOpen();
  }

  /** Returns the last stable offset as soon as it is `least` or more. */
  async #stableFrom(topic: Topic, partition: number, least: number): Promise<number> {
    const untilMs = nowMs() + STABLE_MS_MAX;
    const end = this.#tracks.endOf(this.#names[topic], partition);
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
      const before = end.offset;
      const stable = await this.#offset(topic, partition, "stable");
      if (stable >= least) {
        end.settle(stable, before);
        return stable;
      }
      if (nowMs() > untilMs) {
        throw new RetryableError(
          "log_unavailable",
          `\`${this.#names[topic]}\` partition ${partition}: a transaction stays open at ${stable}; ` +
            "`callgate doctor` shows its producer and how to end it",
          { context: { topic, partition, offset: stable } },
        );
      }
      await sleep(pauseMs, this.#closing.signal);
    }
  }

  async #look(): Promise<void> {
    try {
      this.#failure ??= findChange(this.#facts, await this.#link.describe(), this.#names);
    } catch {
      // The reads report a cluster that cannot be reached.
      return;
    }
    if (this.#failure !== null) this.#tracks.close();
  }

  get #isStopped(): boolean {
    return this.#closing.signal.aborted || this.#failure !== null;
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new FatalError("closed", "the log is closed");
    if (this.#failure !== null) throw this.#failure;
  }

  #hasPartition(partition: number): boolean {
    return Number.isInteger(partition) && partition >= 0 && partition < this.partitions;
  }

  #assertPartition(topic: Topic, partition: number): void {
    if (this.#hasPartition(partition)) return;
    throw new FatalError(
      "log_mismatch",
      `there is no partition ${partition} of ${topic}: the log has ${this.partitions}`,
    );
  }
}

/**
 * True where no record is left: a broker just answered so, or a poll in flight would have brought
 * a new record by now.
 */
function isAtEnd(track: Track): boolean {
  if (track.isReady || track.fetchFrom < track.end) return false;
  const now = nowMs();
  if (now - track.atEndMs < END_TRUST_MS) return true;
  const since = track.inFlightSinceMs;
  return since !== null && now - since < POLL_TRUST_MS && track.atEndMs > Number.NEGATIVE_INFINITY;
}

/** For how long a failed read is retried. */
function patienceMs({ kind, code }: PipelineError): number {
  if (code === "log_mismatch") return SHORTER_MS_MAX;
  return kind === "retry" ? TRY_MS_MAX : 0;
}

function nowMs(): number {
  return performance.now();
}

/** Ends early, without an error, when the signal aborts. */
async function sleep(timeMs: number, signal: AbortSignal): Promise<void> {
  await setTimer(timeMs, undefined, { signal }).catch(() => undefined);
}
