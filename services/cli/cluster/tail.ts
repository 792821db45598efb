/** `callgate tail`: decisions as they come. */
import type { DecisionEvent, GateEvent } from "../../core/events.ts";
import type { JournalRecord } from "../../runtime/journal.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";
import { onStop } from "../dev/stop-signals.ts";
import { EXIT_OK, type ExitCode } from "../output/exit-codes.ts";
import { printable } from "../output/printable.ts";
import type { Terminal } from "../output/terminal.ts";
import { openSource, type Source, type SourceOptions } from "./open-source.ts";

export type TailFilter = {
  readonly conversation: string | undefined;
  readonly tool: string | undefined;
  readonly reason: string | undefined;
  readonly outcome: string | undefined;
};

export type TailOptions = SourceOptions &
  TailFilter & {
    /** From the first record that is still there; else what comes from now on. */
    readonly fromBeginning: boolean;
    /** Ends after so many; undefined: when it is stopped. */
    readonly limit: number | undefined;
    /** Ends when everything that is there was read. */
    readonly once: boolean;
    readonly json: boolean;
  };

type Position = { readonly partition: number; offset: number };

const READ_LIMITS = { recordsMax: 500, bytesMax: 4 * 1024 * 1024 };
const WAIT_MS = 1_000;
const TEXT_CHARACTERS = 60;

export async function runTail(options: TailOptions, terminal: Terminal): Promise<ExitCode> {
  const source = await openSource(options);
  const stop = onStop();
  try {
    const positions = await startAt(source, options.fromBeginning || options.once);
    const tail = new Tail(source, options, terminal);
    while (!stop.signal.aborted && !tail.isDone) {
      let read = 0;
      for (const position of positions) read += await tail.step(position);
      if (read > 0) continue;
      if (options.once) break;
      const waiting = positions.map((position) => ({ topic: JOURNAL_TOPIC, ...position }) as const);
      await source.log.waitForNew(waiting, WAIT_MS, stop.signal);
    }
  } finally {
    stop.end();
    await source.close();
  }
  return EXIT_OK;
}

async function startAt({ log }: Source, fromBeginning: boolean): Promise<readonly Position[]> {
  const partitions = [...Array(log.partitions).keys()];
  return await Promise.all(
    partitions.map(async (partition) => ({
      partition,
      offset: fromBeginning
        ? await log.startOffset(JOURNAL_TOPIC, partition)
        : await log.endOffset(JOURNAL_TOPIC, partition),
    })),
  );
}

class Tail {
  readonly #source: Source;
  readonly #options: TailOptions;
  readonly #terminal: Terminal;
  #printed = 0;

  constructor(source: Source, options: TailOptions, terminal: Terminal) {
    this.#source = source;
    this.#options = options;
    this.#terminal = terminal;
  }

  get isDone(): boolean {
    const { limit } = this.#options;
    return limit !== undefined && this.#printed >= limit;
  }

  /** Reads on at a position; how many offsets it went. */
  async step(position: Position): Promise<number> {
    const { log, codec } = this.#source;
    const { partition, offset } = position;
    const read = await log.read(JOURNAL_TOPIC, partition, offset, READ_LIMITS);
    for (const { offset: at, value } of read.records) {
      await codec.pending?.(value);
      if (value === null || this.isDone) continue;
      await this.#print(codec.decodeJournal(value), partition, at);
    }
    position.offset = read.nextOffset;
    return read.nextOffset - offset;
  }

  async #print(record: JournalRecord, partition: number, offset: number): Promise<void> {
    for (const event of record.events) {
      if (this.isDone || !isDecision(event) || !matches(event, this.#options)) continue;
      this.#printed += 1;
      const { out } = this.#terminal;
      const line = this.#options.json
        ? JSON.stringify({ partition, offset, ...event })
        : lineOf(event, out.style);
      await out.write(`${line}\n`);
    }
  }
}

function isDecision(event: GateEvent): event is DecisionEvent {
  return event.type === "allowed" || event.type === "refused" || event.type === "held";
}

export function matches(event: DecisionEvent, filter: TailFilter): boolean {
  const { conversation, tool, reason, outcome } = filter;
  const name = `${event.tenantId}/${event.conversationId}`;
  return (
    (conversation === undefined ||
      conversation === event.conversationId ||
      conversation === name) &&
    (tool === undefined || tool === event.tool) &&
    (outcome === undefined || outcome === event.type) &&
    (reason === undefined || reason === reasonOf(event))
  );
}

function reasonOf(event: DecisionEvent): string {
  if (event.type === "refused") return event.refusal.reason;
  return event.type === "held" ? "approval_required" : "";
}

function lineOf(event: DecisionEvent, style: Terminal["out"]["style"]): string {
  const paint = { allowed: style.good, refused: style.bad, held: style.waiting }[event.type];
  const call = `${event.tool} ${event.arguments}`;
  return [
    new Date(event.atMs).toISOString(),
    paint(event.type.padEnd("refused".length)),
    reasonOf(event).padEnd("duplicate_in_flight".length),
    printable(event.conversationId, TEXT_CHARACTERS),
    printable(call, TEXT_CHARACTERS),
    style.dim(event.decisionId),
  ].join("  ");
}
