/**
 * The feed as server-sent events.
 *
 * FEED-1 the journal is read only when the client has taken what it was sent: a client that never
 *   reads holds one chunk, and is cut off after a while.
 * FEED-2 `id` says exactly what was sent: whoever resumes after it misses and repeats nothing.
 */
import { setImmediate } from "node:timers/promises";
import type { JournalTail } from "../journal/journal-tail.ts";
import { type PartitionPosition, positionText } from "./event-position.ts";
import { type ShownEvent, shownEvents } from "./shown-event.ts";

const HEARTBEAT_MS = 15_000;
const UNREAD_MS = 30_000;
/** What a client that does not read gets to take what is on its way, when the server ends. */
const ENDING_MS = 500;

export type EventStreamParts = {
  readonly tail: JournalTail;
  /** By partition. */
  readonly from: readonly PartitionPosition[];
  readonly isWanted: (event: ShownEvent) => boolean;
  /** Aborts when the server ends. */
  readonly ending: AbortSignal;
  /** Closes the client's connection, which takes nothing. */
  readonly cutOff: () => void;
  /** Called once, however the stream ends. */
  readonly onEnd: () => void;
  readonly heartbeatMs?: number;
  readonly unreadMs?: number;
};

export function eventStream(parts: EventStreamParts): ReadableStream<Uint8Array> {
  const feed = new Feed(parts);
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => feed.begin(controller),
      pull: () => feed.pull(),
      cancel: () => feed.end(),
    },
    // FEED-1: nothing is read ahead.
    { highWaterMark: 0 },
  );
}

const encoder = new TextEncoder();

class Feed {
  readonly #parts: EventStreamParts;
  readonly #positions: PartitionPosition[];
  readonly #stop: () => void;
  readonly #onEnding = (): void => this.#serverEnds();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #wake: (() => void) | undefined;
  #hasNews = true;
  #isEnded = false;
  #isFirst = true;
  #unread: NodeJS.Timeout | undefined;

  constructor(parts: EventStreamParts) {
    this.#parts = parts;
    this.#positions = [...parts.from];
    this.#stop = parts.tail.onCommitted(() => this.#news());
    parts.ending.addEventListener("abort", this.#onEnding, { once: true });
  }

  begin(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
  }

  async pull(): Promise<void> {
    clearTimeout(this.#unread);
    try {
      const text = await this.#next();
      if (text === null || this.#isEnded) return this.#close();
      this.#unread = setTimeout(() => this.#cutOff(), this.#parts.unreadMs ?? UNREAD_MS);
      this.#controller?.enqueue(encoder.encode(text));
    } catch {
      // The client resumes after its last id, and then gets a problem that says why.
      this.#close();
    }
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#unread);
    this.#stop();
    this.#parts.ending.removeEventListener("abort", this.#onEnding);
    this.#wake?.();
    this.#parts.onEnd();
  }

  /** What to send next; null: the stream ends. */
  async #next(): Promise<string | null> {
    if (this.#isFirst) {
      this.#isFirst = false;
      return ": connected\n\n";
    }
    const heartbeatAtMs = performance.now() + (this.#parts.heartbeatMs ?? HEARTBEAT_MS);
    while (!this.#parts.ending.aborted && !this.#isEnded) {
      this.#hasNews = false;
      for (const partition of this.#positions.keys()) {
        const text = await this.#read(partition);
        if (text !== "") return text;
      }
      if (this.#hasNews) {
        // Much that is not wanted must not delay decisions.
        await setImmediate();
        continue;
      }
      const leftMs = heartbeatAtMs - performance.now();
      if (leftMs <= 0) return ": heartbeat\n\n";
      await this.#untilNews(leftMs);
    }
    return null;
  }

  /** One section of a partition; empty: nothing of it is wanted. */
  async #read(partition: number): Promise<string> {
    const position = this.#positions[partition] as PartitionPosition;
    const { from, records, nextOffset } = await this.#parts.tail.read(partition, position.offset);
    let text = from > position.offset ? gap(partition, position.offset, from) : "";
    for (const { offset, record } of records) {
      const events = shownEvents(record);
      const skipped = offset === position.offset ? position.event : 0;
      for (const [at, event] of events.entries()) {
        if (at < skipped || !this.#parts.isWanted(event)) continue;
        const isLast = at === events.length - 1;
        this.#positions[partition] = isLast
          ? { offset: offset + 1, event: 0 }
          : { offset, event: at + 1 };
        text += message(event, positionText(this.#positions));
      }
    }
    if (nextOffset > position.offset) {
      this.#positions[partition] = { offset: nextOffset, event: 0 };
      // More may be there already.
      this.#hasNews = true;
    }
    return text;
  }

  #untilNews(timeMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #news(): void {
    this.#hasNews = true;
    this.#wake?.();
  }

  #close(): void {
    if (!this.#isEnded) this.#controller?.close();
    this.end();
  }

  #cutOff(): void {
    this.end();
    this.#parts.cutOff();
  }

  #serverEnds(): void {
    this.#wake?.();
    if (this.#unread === undefined) return;
    clearTimeout(this.#unread);
    this.#unread = setTimeout(() => this.#cutOff(), ENDING_MS);
  }
}

function message(event: ShownEvent, id: string): string {
  return `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Records that retention has deleted before they were sent. */
function gap(partition: number, missedFrom: number, missedTo: number): string {
  const data = JSON.stringify({ type: "gap", partition, missedFrom, missedTo });
  return `event: gap\ndata: ${data}\n\n`;
}
