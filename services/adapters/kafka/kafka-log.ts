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
import { INPUT_TOPICS, TOPICS, type Topic } from "../../runtime/topics.ts";
import { allowManyListeners } from "../system/many-listeners.ts";
import { AppendQueue } from "./append-queue.ts";
import { ClusterLink, type OffsetKind } from "./cluster-link.ts";
import { mapKafkaError } from "./map-error.ts";
import { CONTROL } from "./patches/kafkajs-internals.ts";
import { type FetchedPartition, fetchRequest } from "./records/fetch-request.ts";
import { Fetcher, isStaleLeader, PARTITION_BYTES_MAX, POLL_MS } from "./records/fetcher.ts";
import type { Track } from "./records/tracks.ts";
import { Tracks } from "./records/tracks.ts";
import { findChange, type TopicFacts, topicFacts } from "./topics/topic-facts.ts";
import type { TopicNames } from "./topics/topic-names.ts";

export type KafkaLogOptions = {
  readonly kafka: Kafka;
  readonly names: TopicNames;
  /** Those that are used, and must be there; absent: all. */
  readonly topics?: readonly Topic[];
  readonly clientId: string;
  readonly requestTimeoutMs: number;
  /** How often the topics are compared with what they were at the start. */
  readonly watchMs?: number;
};

const WATCH_MS = 10_000;
/** How long a read tries again before it fails: longer than a leader takes to move. */
const TRY_MS_MAX = 10_000;
/** How long a leader may end before what was read: it was deposed, and learns of it with its next heartbeat (2 s). */
const SHORTER_MS_MAX = 3_000;
const PAUSE_MS_MIN = 3;
const PAUSE_MS_MAX = 250;
/** A transaction that was open when an end was asked for ends within this time. */
const STABLE_MS_MAX = 20_000;
/** A poll that is out for longer is no proof any more that there is nothing new. */
const POLL_TRUST_MS = POLL_MS + 400;
/** So fresh is an answer that need not be asked for again. */
const END_TRUST_MS = 20;
const OUT_OF_RANGE = 1;

/** Connects, and learns what the topics are. @throws PipelineError: see errors.ts of the runtime. */
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
    throw mapKafkaError(error, "reading what the topics are");
  }
}

/**
 * The log in a Kafka cluster. Reads without a group, through long polls that all positions of this
 * process share; what comes is held ready, so that a read seldom waits.
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
    // Each reader of each partition waits on it.
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
        // What is committed stays so, whether or not it could be seen in time.
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
    // Who reads on is read ahead for; a single look is not.
    if (!isNew) first.following = true;
    const fromMs = nowMs();
    for (let track = first, at = fromOffset, pauseMs = PAUSE_MS_MIN; ; ) {
      // While we waited, another reader who was at the same place may have taken what came.
      if (track.readFrom !== at) track = this.#tracks.at(name, partition, at).track;
      const { records, nextOffset } = track.take(limits);
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
   * Everything appended before the call lies below it or was aborted: it waits for the transactions
   * that are open now. In an input topic, where others' may stay open for long, it does not wait:
   * there it is what can be read.
   */
  async endOffset(topic: Topic, partition: number): Promise<number> {
    const waits = !(INPUT_TOPICS as readonly Topic[]).includes(topic);
    const latest = waits ? await this.#offset(topic, partition, "latest") : 0;
    return this.#stableFrom(topic, partition, latest);
  }

  startOffset(topic: Topic, partition: number): Promise<number> {
    return this.#offset(topic, partition, "earliest");
  }

  /** Its timers do not keep the process alive. */
  waitForNew(
    positions: readonly WaitPosition[],
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<void> {
    if (this.#isStopped || signal?.aborted === true) return Promise.resolve();
    const tracks: Track[] = [];
    for (const { topic, partition, offset } of positions) {
      // The read that follows tells what is wrong with it.
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

  /** As `close`, where the cluster does not answer: what is under way fails, and its connections end now. */
  abandon(): void {
    this.close().catch(() => undefined);
    this.#appends.abandon();
  }

  /** Gets more for a track that has nothing left: from the poll that is out, or by a fetch of its own. */
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
    if (leader === undefined) throw new Error("it has no leader now");
    const bytesMax = PARTITION_BYTES_MAX;
    const positions = [{ topic: name, partition, offset: fetchFrom, bytesMax }];
    const request = fetchRequest({ positions, waitMs: 0, bytesMax });
    const [answer] = await this.#link.send(leader, CONTROL, request);
    if (answer?.errorCode === OUT_OF_RANGE) await this.#explainRange(track, fetchFrom);
    assertAnswered(answer);
    const before = track.end;
    track.feed(answer, fetchFrom, nowMs());
    if (!track.isReady && track.fetchFrom === fetchFrom && before > fetchFrom) {
      throw new Error(`its leader does not show yet what was committed up to ${before}`);
    }
  }

  /** It never goes on elsewhere by itself: whatever was there is gone, and somebody must know. */
  async #explainRange(track: Track, offset: number): Promise<void> {
    const { name, partition } = track;
    const start = await this.#link.offset(name, partition, "earliest");
    const end = await this.#link.offset(name, partition, "latest");
    const context = { topic: name, partition, offset, start, end };
    const location = `\`${name}\` partition ${partition}`;
    if (offset < start) {
      const text = `${location}: the records from ${offset} up to ${start} are no longer there`;
      throw new FatalError("input_out_of_reach", text, { context });
    }
    if (offset > end) {
      const text = `${location} ends at ${end}, before ${offset}: it was cut off, or made anew`;
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
        const failure = mapKafkaError(error, `asking for offsets of \`${name}\``);
        if (failure.disposition !== "retry" || nowMs() > untilMs) throw failure;
        await this.#lookAgainAfter(pauseMs);
      }
    }
  }

  /** A log that was closed meanwhile connects to nothing any more. */
  async #lookAgainAfter(pauseMs: number): Promise<void> {
    await sleep(pauseMs, this.#closing.signal);
    this.#assertOpen();
    await this.#link.refresh().catch(() => undefined);
    this.#assertOpen();
  }

  /** The end of what is decided, once that is `least` or more. */
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
            "`callgate doctor` says whose it is and how to end it",
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
      // What cannot be reached is met by the reads.
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

function assertAnswered(answer: FetchedPartition | undefined): asserts answer is FetchedPartition {
  if (answer === undefined) throw new Error("the broker answered for something else");
  const code = answer.errorCode;
  if (code === 0) return;
  const text = isStaleLeader(code) ? "its leader is moving" : `the broker answered error ${code}`;
  throw Object.assign(new Error(text), { code });
}

/** Nothing is left, and a broker said so just now, or would have said otherwise by now. */
function isAtEnd(track: Track): boolean {
  if (track.isReady || track.fetchFrom < track.end) return false;
  const now = nowMs();
  if (now - track.atEndMs < END_TRUST_MS) return true;
  const since = track.inFlightSinceMs;
  return since !== null && now - since < POLL_TRUST_MS && track.atEndMs > Number.NEGATIVE_INFINITY;
}

/** For how long a read that failed is tried again. */
function patienceMs({ disposition, code }: PipelineError): number {
  if (code === "log_mismatch") return SHORTER_MS_MAX;
  return disposition === "retry" ? TRY_MS_MAX : 0;
}

function nowMs(): number {
  return performance.now();
}

function sleep(timeMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, timeMs);
    signal.addEventListener("abort", done);
  });
}
