import { KnownEnd, Track } from "./track.ts";

/** A track that nobody has read from for so long is let go, with what it holds. */
const IDLE_MS_MAX = 5_000;
const SWEEP_MS = 1_000;
/** Readers of one topic-partition at different offsets. */
const TRACKS_MAX = 16;

/** The tracks of a log by topic-partition and by where their readers go on. */
export class Tracks {
  readonly #byPlace = new Map<string, Track[]>();
  /** Kept when the tracks are let go: one for each topic-partition. */
  readonly #ends = new Map<string, KnownEnd>();
  readonly #nowMs: () => number;
  readonly #sweep: NodeJS.Timeout;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#sweep = setInterval(() => this.#dropIdle(), SWEEP_MS).unref();
  }

  *all(): Iterable<Track> {
    for (const group of this.#byPlace.values()) yield* group;
  }

  /** The track of the reader who is at this offset; a new one where there is none. */
  at(name: string, partition: number, offset: number): { track: Track; isNew: boolean } {
    const place = `${partition} ${name}`;
    const group = this.#byPlace.get(place) ?? [];
    const nowMs = this.#nowMs();
    const known = group.find(({ readFrom }) => readFrom === offset);
    if (known !== undefined) {
      known.usedMs = nowMs;
      return { track: known, isNew: false };
    }
    const end = this.endOf(name, partition);
    const track = new Track({ name, partition, end }, offset, nowMs);
    const kept = group.length < TRACKS_MAX ? group : group.filter(({ hasWaiters }) => hasWaiters);
    this.#byPlace.set(place, [...kept, track]);
    return { track, isNew: true };
  }

  /** Shared by all readers of a topic-partition, now and later. */
  endOf(name: string, partition: number): KnownEnd {
    const place = `${partition} ${name}`;
    let end = this.#ends.get(place);
    if (end === undefined) {
      end = new KnownEnd();
      this.#ends.set(place, end);
    }
    return end;
  }

  /** Lets all go, and wakes who waits. */
  close(): void {
    clearInterval(this.#sweep);
    const tracks = [...this.all()];
    this.#byPlace.clear();
    for (const track of tracks) track.wake();
  }

  #dropIdle(): void {
    const sinceMs = this.#nowMs() - IDLE_MS_MAX;
    for (const [place, group] of this.#byPlace) {
      const kept = group.filter(({ hasWaiters, usedMs }) => hasWaiters || usedMs > sinceMs);
      if (kept.length === 0) this.#byPlace.delete(place);
      else if (kept.length < group.length) this.#byPlace.set(place, kept);
    }
  }
}
