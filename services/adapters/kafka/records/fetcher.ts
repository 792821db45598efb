/**
 * Fetches ahead for all tracks, by one long poll for each broker, which is sent again as soon as it
 * is answered.
 *
 * FETCH-1 Each track that is followed and has room is in a poll. A broker answers the requests of a
 *    connection in order, so a track that needs records while the poll is in flight goes into a
 *    second poll, on a second connection, and does not wait for records of others.
 * FETCH-2 A failed poll is retried with growing pauses, for as long as a track is followed.
 * FETCH-3 A request names a topic-partition once. For two offsets of a partition a broker answers
 *    only one, and the reader at the other would miss records.
 * FETCH-4 All readers of a partition, present and later, share the highest end that an answer gave:
 *    no reader is shown an end before a record that another reader has got.
 */
import type { ClusterLink } from "../cluster-link.ts";
import { POLL } from "../patches/kafkajs-internals.ts";
import { type FetchedPartition, type FetchPosition, fetchRequest } from "./fetch-request.ts";
import type { Track, Tracks } from "./tracks.ts";

export const POLL_MS = 100;
/** A second poll that would end sooner is not sent. */
const SECOND_POLL_MS_MIN = 5;
export const PARTITION_BYTES_MAX = 1024 * 1024;
const FETCH_BYTES_MAX = 16 * 1024 * 1024;
const PAUSE_MS_MIN = 3;
const PAUSE_MS_MAX = 250;

/** Error codes of a leader that moved or is not ready: refresh the metadata and retry. */
const STALE_LEADER = new Set([3, 5, 6, 7, 9, 56, 74, 75, 76, 78]);

function isStaleLeader(code: number): boolean {
  return STALE_LEADER.has(code);
}

/** @throws Error where the broker answered with an error, or for another partition. */
export function assertAnswered(
  answer: FetchedPartition | undefined,
): asserts answer is FetchedPartition {
  if (answer === undefined) throw new Error("the broker answered for another partition");
  const code = answer.errorCode;
  if (code === 0) return;
  const text = isStaleLeader(code) ? "the leader is moving" : `the broker answered error ${code}`;
  throw Object.assign(new Error(text), { code });
}

type Lane = { readonly link: ClusterLink; untilMs: number; isBusy: boolean };

export class Fetcher {
  readonly #link: ClusterLink;
  readonly #links: readonly [ClusterLink, ClusterLink];
  readonly #tracks: Tracks;
  readonly #nowMs: () => number;
  readonly #lanes = new Map<number, readonly [Lane, Lane]>();
  #pauseMs = 0;
  #paused: NodeJS.Timeout | undefined;
  #turn = 0;
  #closed = false;

  /** @param links the first decides which broker leads a partition. */
  constructor(links: readonly [ClusterLink, ClusterLink], tracks: Tracks, nowMs: () => number) {
    this.#links = links;
    this.#link = links[0];
    this.#tracks = tracks;
    this.#nowMs = nowMs;
  }

  /** Sends polls for all tracks that are followed, have room and are in no poll (FETCH-1). */
  poke(): void {
    if (this.#closed || this.#paused !== undefined) return;
    const byNode = new Map<number, Track[]>();
    let isLost = false;
    for (const track of this.#tracks.all()) {
      if (!track.following || track.inFlightSinceMs !== null || !track.wantsMore) continue;
      const node = this.#link.leaderOf(track.name, track.partition);
      if (node === undefined) {
        isLost = true;
        continue;
      }
      const group = byNode.get(node);
      if (group === undefined) byNode.set(node, [track]);
      else group.push(track);
    }
    for (const [node, tracks] of byNode) this.#start(node, tracks);
    if (isLost) this.#pause();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#paused);
  }

  #start(node: number, tracks: readonly Track[]): void {
    let lanes = this.#lanes.get(node);
    if (lanes === undefined) {
      const [first, second] = this.#links;
      lanes = [
        { link: first, untilMs: 0, isBusy: false },
        { link: second, untilMs: 0, isBusy: false },
      ];
      this.#lanes.set(node, lanes);
    }
    const [main, second] = lanes;
    let waiting = this.#rotate(tracks);
    if (!main.isBusy) {
      const asked = pickOnePerPartition(waiting);
      waiting = waiting.filter((track) => !asked.includes(track));
      void this.#poll(node, main, asked, POLL_MS);
    }
    // The second poll ends with the first, so that one poll then carries all tracks again.
    const leftMs = main.untilMs - this.#nowMs();
    if (waiting.length > 0 && !second.isBusy && leftMs >= SECOND_POLL_MS_MIN) {
      void this.#poll(node, second, pickOnePerPartition(waiting), leftMs);
    }
  }

  /** Never rejects. */
  async #poll(node: number, lane: Lane, asked: readonly Track[], waitMs: number): Promise<void> {
    const nowMs = this.#nowMs();
    lane.isBusy = true;
    lane.untilMs = nowMs + waitMs;
    const offsets = asked.map((track) => track.fetchFrom);
    for (const track of asked) track.inFlightSinceMs = nowMs;
    let isStale = false;
    try {
      await lane.link.connect();
      const positions = asked.map(toPosition);
      const request = fetchRequest({ positions, waitMs, bytesMax: FETCH_BYTES_MAX });
      const fetched = await lane.link.send(node, POLL, request);
      isStale = this.#feed(fetched, asked, offsets);
      if (!isStale) this.#pauseMs = 0;
    } catch {
      // A reader encounters the same failure and reports it; here the poll is only retried.
      isStale = true;
    }
    lane.isBusy = false;
    for (const track of asked) track.inFlightSinceMs = null;
    if (isStale) this.#pause();
    else this.poke();
  }

  /** Passes the answers to the tracks; true where a leader has moved. */
  #feed(
    fetched: readonly FetchedPartition[],
    asked: readonly Track[],
    offsets: readonly number[],
  ): boolean {
    const nowMs = this.#nowMs();
    const answers = new Map(fetched.map((one) => [`${one.partition} ${one.topic}`, one]));
    let isStale = false;
    for (const [index, track] of asked.entries()) {
      const answer = answers.get(`${track.partition} ${track.name}`);
      if (answer === undefined || isStaleLeader(answer.errorCode)) {
        isStale = true;
      } else if (answer.errorCode === 0) {
        track.feed(answer, offsets[index] ?? 0, nowMs);
      } else {
        // The read that follows fetches by itself, and reports the error.
        track.following = false;
        track.wake();
      }
    }
    return isStale;
  }

  /** A broker fills its answer in the order of the request, so each track comes first in turn. */
  #rotate(tracks: readonly Track[]): readonly Track[] {
    this.#turn += 1;
    const from = this.#turn % tracks.length;
    return from === 0 ? tracks : [...tracks.slice(from), ...tracks.slice(0, from)];
  }

  #pause(): void {
    if (this.#closed || this.#paused !== undefined) return;
    this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, PAUSE_MS_MIN), PAUSE_MS_MAX);
    this.#paused = setTimeout(() => void this.#lookAgain(), this.#pauseMs);
  }

  async #lookAgain(): Promise<void> {
    await Promise.all(this.#links.map((link) => link.refreshIfConnected()));
    this.#paused = undefined;
    this.poke();
  }
}

/** FETCH-3: the first of each topic-partition. */
function pickOnePerPartition(tracks: readonly Track[]): readonly Track[] {
  const firstTracks = new Map<string, Track>();
  for (const track of tracks) {
    const partitionKey = `${track.partition} ${track.name}`;
    if (!firstTracks.has(partitionKey)) firstTracks.set(partitionKey, track);
  }
  return firstTracks.size === tracks.length ? tracks : [...firstTracks.values()];
}

function toPosition(track: Track): FetchPosition {
  const { name, partition, fetchFrom } = track;
  return { topic: name, partition, offset: fetchFrom, bytesMax: PARTITION_BYTES_MAX };
}
