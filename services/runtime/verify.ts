/**
 * Whether a journal is what it must be: gapless, its chain unbroken, one record for each input that is
 * still in its topic, one terminal decision for each proposal, and its state hashes those of a replay. Reads only.
 */
import type { GateEvent } from "../core/events.ts";
import { chainHash } from "../core/hash.ts";
import { DecidedNames } from "./decided-names.ts";
import type { StateFold } from "./engine.ts";
import { GENESIS_HASH, type JournalRecord } from "./journal.ts";
import { PartitionState } from "./partition-state.ts";
import type { Codec, Log } from "./ports.ts";
import { readJournal } from "./read-journal.ts";
import { type JournalEntry, Replay } from "./replay.ts";
import { INPUT_TOPICS, type InputTopic, JOURNAL_TOPIC, NO_POSITION } from "./topics.ts";
import { UnjournaledInputs } from "./unjournaled-inputs.ts";

export type JournalProblem = {
  readonly partition: number;
  /** Offset in the journal. */
  readonly offset: number;
  /** Null: the record cannot be read. */
  readonly seq: number | null;
  /** One sentence without a full stop. */
  readonly problem: string;
};

export type VerifyReport = {
  readonly partition: number;
  readonly records: number;
  /** 1 unless the log's start has moved. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Hash of the last record: whoever notes it down can tell later that nothing before it changed. */
  readonly chainHead: string;
  readonly stateHashesCompared: number;
  /** Journaled inputs that were found in their topics, with no other between them. */
  readonly inputsCompared: number;
  /** Why not all inputs were compared; null: nothing kept them from it. */
  readonly inputsProblem: string | null;
  /** The first of them, in order; bounded. */
  readonly problems: readonly JournalProblem[];
};

export type VerifyContext = {
  readonly log: Log;
  readonly codec: Codec;
  readonly fold: StateFold;
  /** As in `TaskOptions`: where the log's start has moved, hashes are compared only this long after. */
  readonly journalSpanMs: number;
};

const PROBLEMS_MAX = 100;

/** @throws PipelineError where the log cannot be read; what is wrong in the journal is in the report. */
export async function verifyJournal(
  context: VerifyContext,
  partition: number,
): Promise<VerifyReport> {
  const { log, codec } = context;
  const start = await log.startOffset(JOURNAL_TOPIC, partition);
  const end = await log.endOffset(JOURNAL_TOPIC, partition);
  const verification = new Verification(context, partition, start > 0);
  const unreadable = (offset: number, { message }: Error) =>
    verification.tell({ offset, seq: null, problem: message });
  for await (const entries of readJournal(log, codec, partition, start, end, unreadable)) {
    for (const entry of entries) await verification.take(entry);
  }
  return verification.report();
}

class Verification {
  readonly #partition: number;
  readonly #startMoved: boolean;
  readonly #replay: Replay;
  readonly #inputs: UnjournaledInputs;
  readonly #problems: JournalProblem[] = [];
  readonly #decided = new DecidedNames();
  #next: Record<InputTopic, number> = { ...NO_POSITION };
  #records = 0;
  #firstSeq = 0;
  #lastSeq = 0;
  #chainHead = GENESIS_HASH;
  /** After one mismatch all later ones follow from it. */
  #replaying = true;

  constructor(context: VerifyContext, partition: number, startMoved: boolean) {
    this.#partition = partition;
    this.#startMoved = startMoved;
    this.#inputs = new UnjournaledInputs(context.log, partition);
    this.#replay = new Replay(new PartitionState(context.fold), {
      startMoved,
      checkChain: false,
      hashesFromSeq: 0,
      spanMs: context.journalSpanMs,
    });
  }

  async take(entry: JournalEntry): Promise<void> {
    const { record } = entry;
    const at = { offset: entry.log.offset, seq: record.seq };
    const tell = (problem: string): void => this.tell({ ...at, problem });
    if (this.#records === 0 && this.#startMoved) this.#anchor(record);
    if (this.#records === 0) this.#firstSeq = record.seq;
    if (record.seq !== this.#lastSeq + 1) tell(`seq ${record.seq} follows ${this.#lastSeq}`);
    if (record.prevHash !== this.#chainHead) tell("it is not linked to the record before it");
    await this.#checkSkippedRecords(record, tell);
    this.#checkInput(record, tell);
    for (const event of record.events) this.#checkEvent(event, tell);
    this.#fold(entry, tell);
    this.#records += 1;
    this.#lastSeq = record.seq;
    this.#chainHead = chainHash(record.prevHash, entry.log.value ?? new Uint8Array());
  }

  tell(problem: Omit<JournalProblem, "partition">): void {
    if (this.#problems.length >= PROBLEMS_MAX) return;
    this.#problems.push({ partition: this.#partition, ...problem });
  }

  report(): VerifyReport {
    return {
      partition: this.#partition,
      records: this.#records,
      firstSeq: this.#firstSeq,
      lastSeq: this.#lastSeq,
      chainHead: this.#chainHead,
      stateHashesCompared: this.#replay.compared,
      inputsCompared: this.#inputs.compared,
      inputsProblem: this.#inputs.problem,
      problems: this.#problems,
    };
  }

  #anchor(record: JournalRecord): void {
    this.#lastSeq = record.seq - 1;
    this.#chainHead = record.prevHash;
    this.#next = { ...record.next };
    if (record.input.type !== "idle") this.#next[record.input.at.topic] = record.input.at.offset;
  }

  async #checkSkippedRecords({ input }: JournalRecord, tell: (problem: string) => void): Promise<void> {
    if (input.type === "idle") return;
    const { topic } = input.at;
    for (const offset of await this.#inputs.skipped(input.at, this.#next[topic])) {
      tell(`${topic} ${offset} has no record of its own before it`);
    }
  }

  #checkInput({ input, next }: JournalRecord, tell: (problem: string) => void): void {
    if (input.type !== "idle") {
      const { topic, offset } = input.at;
      // Offsets may jump over what is no record; they never fall.
      if (offset < this.#next[topic]) tell(`${topic} ${offset} is decided a second time`);
      this.#next[topic] = offset + 1;
    }
    for (const topic of INPUT_TOPICS) {
      if (next[topic] !== this.#next[topic]) {
        tell(`it goes on at ${topic} ${next[topic]} instead of ${this.#next[topic]}`);
      }
    }
  }

  #checkEvent(event: GateEvent, tell: (problem: string) => void): void {
    if (event.type !== "allowed" && event.type !== "refused" && event.type !== "held") return;
    if (this.#decided.isSecond(event)) tell(`decision ${event.decisionId} is made a second time`);
  }

  #fold(entry: JournalEntry, tell: (problem: string) => void): void {
    if (!this.#replaying) return;
    try {
      this.#replay.apply([entry]);
    } catch (error) {
      this.#replaying = false;
      const what = error instanceof Error ? error.message : String(error);
      tell(`its events do not give the state it was written with: ${what}`);
    }
  }
}
