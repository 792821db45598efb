/**
 * Checks that a journal is complete and consistent: no gaps, an unbroken chain, one record for each
 * input that is still in its topic, one terminal decision for each proposal, and state hashes that
 * a replay confirms. Reads only.
 */
import type { DecisionEvent, GateEvent } from "../core/events.ts";
import { chainHash } from "../core/hash.ts";
import { REASONS } from "../core/reasons/reasons.ts";
import { nameOfDecision } from "../core/state/names.ts";
import {
  type DecidedAhead,
  endOfDecided,
  isDecided,
  NOTHING_AHEAD,
  noteDecided,
} from "./decided-ahead.ts";
import type { StateFold } from "./engine.ts";
import { GENESIS_HASH, type InputPosition, type JournalRecord } from "./journal.ts";
import { PartitionState } from "./partition-state.ts";
import { conversationKey } from "./partitioner.ts";
import type { Codec, Log } from "./ports.ts";
import { readJournal } from "./read-journal.ts";
import { type JournalEntry, Replay } from "./replay.ts";
import { INPUT_TOPICS, JOURNAL_TOPIC, NO_POSITION, type PerInput, replaceTopic } from "./topics.ts";
import { UnjournaledInputs } from "./unjournaled-inputs.ts";

export type JournalProblem = {
  readonly partition: number;
  /** Offset in the journal. */
  readonly offset: number;
  /** Null: the record cannot be decoded. */
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
  /** Hash of the last record: whoever notes it can later addProblem that nothing before it changed. */
  readonly chainHead: string;
  readonly stateHashesCompared: number;
  /**
   * Number of journaled inputs that were found in their topics, with no other input between them.
   */
  readonly inputsCompared: number;
  /** Why not all inputs were compared; null: all were. */
  readonly inputsProblem: string | null;
  /** The first problems, in order; bounded. */
  readonly problems: readonly JournalProblem[];
};

export type VerifyContext = {
  readonly log: Log;
  readonly codec: Codec;
  readonly fold: StateFold;
  /**
   * As in `TaskOptions`: where the log's start has moved, hashes are compared only this many ms
   * after it.
   */
  readonly journalSpanMs: number;
};

const PROBLEMS_MAX = 100;

/**
 * @throws PipelineError where the log cannot be read. Problems in the journal are in the report.
 */
export async function verifyJournal(
  context: VerifyContext,
  partition: number,
): Promise<VerifyReport> {
  const { log, codec } = context;
  const start = await log.startOffset(JOURNAL_TOPIC, partition);
  const end = await log.endOffset(JOURNAL_TOPIC, partition);
  const verification = new Verification(context, partition, start > 0);
  const unreadable = (offset: number, { message }: Error) =>
    verification.addProblem({ offset, seq: null, problem: message });
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
  #next: PerInput = NO_POSITION;
  #ahead: DecidedAhead = NOTHING_AHEAD;
  #records = 0;
  #firstSeq = 0;
  #lastSeq = 0;
  #chainHead = GENESIS_HASH;
  /** Set to false at the first mismatch, because all later ones would follow from it. */
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
    const addProblem = (problem: string): void => this.addProblem({ ...at, problem });
    if (this.#records === 0 && this.#startMoved) this.#anchor(record);
    if (this.#records === 0) this.#firstSeq = record.seq;
    if (record.seq !== this.#lastSeq + 1) addProblem(`seq ${record.seq} follows ${this.#lastSeq}`);
    if (record.prevHash !== this.#chainHead) addProblem("it is not linked to the record before it");
    if (record.input.type !== "idle") {
      await this.#checkInput(record.input.at, record.next, addProblem);
    }
    this.#checkNext(record, addProblem);
    for (const event of record.events) this.#checkEvent(event, addProblem);
    this.#fold(entry, addProblem);
    this.#records += 1;
    this.#lastSeq = record.seq;
    this.#chainHead = chainHash(record.prevHash, entry.log.value ?? new Uint8Array());
  }

  addProblem(problem: Omit<JournalProblem, "partition">): void {
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
    const { input, next } = record;
    const first = input.type === "idle" ? undefined : input.at;
    // The first input may be one that was decided ahead of others.
    const isInOrder = first !== undefined && next[first.topic] === first.offset + 1;
    this.#next = isInOrder ? replaceTopic(next, first.topic, first.offset) : next;
  }

  async #checkInput(
    { topic, offset }: InputPosition,
    next: PerInput,
    addProblem: (problem: string) => void,
  ): Promise<void> {
    const before = { next: this.#next, ahead: this.#ahead };
    if (isDecided(before, topic, offset)) addProblem(`${topic} ${offset} is decided a second time`);
    const end = next[topic];
    const withInput = noteDecided(this.#ahead, topic, offset, this.#next[topic]);
    const decided = { next: this.#next, ahead: withInput };
    for (const skipped of await this.#inputs.findSkipped(topic, decided, end)) {
      addProblem(`${topic} ${skipped} has no record of its own before it`);
    }
    // Offsets may skip what is no record; they never go back.
    const expected = Math.min(Math.max(end, this.#next[topic]), endOfDecided(decided, topic));
    this.#next = replaceTopic(this.#next, topic, expected);
    this.#ahead = noteDecided(withInput, topic, offset, expected);
  }

  #checkNext({ next }: JournalRecord, addProblem: (problem: string) => void): void {
    for (const topic of INPUT_TOPICS) {
      if (next[topic] !== this.#next[topic]) {
        addProblem(`it goes on at ${topic} ${next[topic]} instead of ${this.#next[topic]}`);
      }
    }
  }

  #checkEvent(event: GateEvent, addProblem: (problem: string) => void): void {
    if (event.type !== "allowed" && event.type !== "refused" && event.type !== "held") return;
    if (this.#decided.isSecond(event))
      addProblem(`decision ${event.decisionId} is made a second time`);
  }

  #fold(entry: JournalEntry, addProblem: (problem: string) => void): void {
    if (!this.#replaying) return;
    try {
      this.#replay.apply([entry]);
    } catch (error) {
      this.#replaying = false;
      const what = error instanceof Error ? error.message : String(error);
      addProblem(`its events do not give the state it was written with: ${what}`);
    }
  }
}

/**
 * The proposals of a journal that have a terminal decision. A proposal that is delivered again gets
 * its first decision and is never decided a second time.
 */
class DecidedNames {
  /** Decision ids by call name, by conversation. */
  readonly #conversations = new Map<string, Map<string, string>>();

  /**
   * Takes the next decision of the journal. True: the same proposal already has a terminal decision
   * that the conversation has not forgotten.
   */
  isSecond(event: DecisionEvent): boolean {
    const names = this.#namesOf(event);
    for (const name of event.conversation.evicted?.names ?? []) names.delete(name);
    if (event.type === "held" || isUnnamed(event)) return false;
    const name = nameOfDecision(event);
    const earlierId = names.get(name);
    if (earlierId === undefined) names.set(name, event.decisionId);
    return earlierId === event.decisionId;
  }

  /** A conversation that starts afresh remembers nothing. */
  #namesOf({
    tenantId,
    conversationId,
    conversation: { fresh },
  }: DecisionEvent): Map<string, string> {
    const key = conversationKey(tenantId, conversationId);
    const existing = fresh ? undefined : this.#conversations.get(key);
    if (existing !== undefined) return existing;
    const names = new Map<string, string>();
    this.#conversations.set(key, names);
    return names;
  }
}

function isUnnamed(event: DecisionEvent): boolean {
  return event.type === "refused" && REASONS[event.refusal.reason].keepsNoName === true;
}
