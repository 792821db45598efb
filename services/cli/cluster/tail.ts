/** `callgate tail`: prints decisions as they are made; existing ones in order of time. */
import type { DecisionEvent, GateEvent } from "../../core/events.ts";
import { EXIT_OK, type ExitCode } from "../../process/exit-error.ts";
import { onStop } from "../../process/stop-signals.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";
import { conversationName } from "../conversations/conversation-name.ts";
import type { Terminal } from "../output/terminal.ts";
import { printable } from "../output/text.ts";
import { readJournaled } from "./journal-records.ts";
import { openSource, type Source, type SourceOptions } from "./open-source.ts";

export type TailFilter = {
  readonly conversation: string | undefined;
  readonly tool: string | undefined;
  readonly reason: string | undefined;
  readonly outcome: string | undefined;
};

export type TailOptions = SourceOptions &
  TailFilter & {
    /** Start at the first remaining record, rather than with new ones. */
    readonly fromBeginning: boolean;
    /** Stop after so many decisions; undefined: run until stopped. */
    readonly limit: number | undefined;
    /** Stop at the current end of the journal. */
    readonly once: boolean;
    readonly json: boolean;
  };

type Line = { readonly event: DecisionEvent; readonly offset: number };

type Position = {
  readonly partition: number;
  offset: number;
  /** Read and not yet printed. */
  lines: Line[];
};

const READ_LIMITS = { recordsMax: 500, bytesMax: 4 * 1024 * 1024 };
const WAIT_MS = 1_000;
const TEXT_CHARACTERS = 60;

export async function runTail(options: TailOptions, terminal: Terminal): Promise<ExitCode> {
  const source = await openSource(options, terminal);
  const stop = onStop();
  try {
    const positions = await startAt(source, options.fromBeginning || options.once);
    const tail = new Tail(source, options, terminal);
    while (!stop.signal.aborted && !tail.isDone) {
      for (const position of positions) await tail.readOn(position, stop.signal);
      if (await tail.printOldest(positions)) continue;
      if (options.once) break;
      const waiting = positions.map(
        ({ partition, offset }) => ({ topic: JOURNAL_TOPIC, partition, offset }) as const,
      );
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
      lines: [],
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

  /** Reads on until there is a line to print, or nothing more to read. */
  async readOn(position: Position, signal: AbortSignal): Promise<void> {
    const { log } = this.#source;
    const { partition } = position;
    while (position.lines.length === 0 && !signal.aborted) {
      const read = await log.read(JOURNAL_TOPIC, partition, position.offset, READ_LIMITS);
      const lines: Line[] = [];
      for (const one of read.records) {
        const record = await readJournaled(this.#source, partition, one);
        const decisions = record?.events.filter(isDecision) ?? [];
        const matching = decisions.filter((event) => matches(event, this.#options));
        lines.push(...matching.map((event) => ({ event, offset: one.offset })));
      }
      position.lines = lines;
      if (read.nextOffset === position.offset) return;
      position.offset = read.nextOffset;
    }
  }

  /** Prints until a position needs further reading; returns whether anything was printed. */
  async printOldest(positions: readonly Position[]): Promise<boolean> {
    const left = positions.filter(({ lines }) => lines.length > 0);
    while (left.length > 0 && left.every(({ lines }) => lines.length > 0) && !this.isDone) {
      const oldest = left.reduce((a, b) => (nextMs(b) < nextMs(a) ? b : a));
      const line = oldest.lines.shift();
      if (line !== undefined) await this.#print(line, oldest.partition);
    }
    return left.length > 0;
  }

  async #print({ event, offset }: Line, partition: number): Promise<void> {
    this.#printed += 1;
    const { out } = this.#terminal;
    const line = this.#options.json
      ? JSON.stringify({ partition, offset, ...event })
      : lineOf(event, out.style);
    await out.write(`${line}\n`);
  }
}

function nextMs({ lines }: Position): number {
  return lines[0]?.event.times.atMs ?? 0;
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
    (tool === undefined || tool === event.call.tool) &&
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
  const call = `${event.call.tool} ${event.arguments.text}`;
  return [
    new Date(event.times.atMs).toISOString(),
    paint(event.type.padEnd("refused".length)),
    reasonOf(event).padEnd("duplicate_in_flight".length),
    printable(conversationName(event), TEXT_CHARACTERS),
    printable(call, TEXT_CHARACTERS),
    style.dim(event.decisionId),
  ].join("  ");
}
