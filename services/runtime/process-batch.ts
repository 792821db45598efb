/**
 * Turns consumed records into what one commit writes. Synchronous and without effects: the
 * committed state is not touched, and dropping the result rolls the batch back.
 *
 * BATCH-1 every input gives one journal record, whatever came of it.
 * BATCH-2 a record that cannot be decoded, or whose processing throws, becomes a dead letter in the
 *    same commit, and the partition goes on.
 */
import type { CallRefused, GateEvent } from "../core/events.ts";
import { chainHash } from "../core/hash.ts";
import type { GateInput } from "../core/inputs.ts";
import { withoutClear } from "../core/seal/seal-arguments.ts";
import { readAfter } from "../core/state/claims.ts";
import { Admission } from "./admission.ts";
import { type AnchorTerms, anchoredBy, anchorFor } from "./anchor.ts";
import type { ConversationBounds } from "./conversation-bounds.ts";
import { noteDecided } from "./decided-ahead.ts";
import { decisionHeaders } from "./decision-headers.ts";
import type { Engine } from "./engine.ts";
import { FatalError, RetryableError, StateCorruptError } from "./errors.ts";
import { forwardInput, rejectMisrouted, routeOf } from "./forward-input.ts";
import type {
  DecidedInput,
  InputPosition,
  JournalAnchor,
  JournalInput,
  JournalRecord,
  QuarantineCode,
} from "./journal.ts";
import type { PartitionState, Progress } from "./partition-state.ts";
import { conversationKey, isKey } from "./partitioner.ts";
import type {
  Codec,
  Logger,
  LogRecord,
  Metrics,
  OutgoingRecord,
  ProposalAuthority,
  RecordHeader,
} from "./ports.ts";
import { StagedState } from "./staged-state.ts";
import { sumText } from "./state-hash.ts";
import { type InputTopic, JOURNAL_TOPIC, replaceTopic, type Topic } from "./topics.ts";

export type FetchedInput = { readonly topic: InputTopic; readonly record: LogRecord };

export type BatchLimits = {
  readonly inputsMax: number;
  /** Bytes that one commit writes to one topic; a single input may exceed it. */
  readonly bytesMax: number;
};

export type BatchContext = {
  readonly partition: number;
  readonly partitions: number;
  /** Every n-th record at least carries the hash of the state; see `STATE_HASH_EVERY`. */
  readonly hashEvery: number;
  /**
   * False: there are no listeners, and encoded records need not stay in memory until the commit is
   * known.
   */
  readonly keepsRecords: boolean;
  readonly engine: Engine;
  readonly codec: Codec;
  /** Absent: whoever writes proposals is trusted. */
  readonly authority?: ProposalAuthority | undefined;
  /** Absent or null: there may be any number of conversations. */
  readonly bounds?: ConversationBounds | null;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The source that decisions name as CloudEvents; null: they are none. */
  readonly eventSource: string | null;
  /** Null: the gate has no secrets, as in a simulation. */
  readonly anchor: AnchorTerms | null;
};

export type StagedBatch = {
  readonly staged: StagedState;
  readonly records: readonly OutgoingRecord[];
  /** All journal records with their index in `records`; empty where no listener needs them. */
  readonly journal: readonly { readonly record: JournalRecord; readonly index: number }[];
  /** How many journal records are in `records`. */
  readonly journaled: number;
  readonly lastJournaled: number;
  /** How many of the inputs are in the batch. */
  readonly inputs: number;
  /** How many of the records are decisions. */
  readonly decisions: number;
  readonly deadLetters: number;
  /** How many of the inputs went to another partition. */
  readonly forwarded: number;
};

/** What became of one input, before it is journaled. */
type Judged = {
  readonly input: JournalInput;
  readonly events: readonly GateEvent[];
  readonly key: string | Uint8Array | null;
  /** Records beside the journal's. */
  readonly outputs: readonly OutgoingRecord[];
};

const NO_HEADERS: readonly RecordHeader[] = [];
const NO_RECORDS: readonly OutgoingRecord[] = [];

export class BatchBuilder {
  readonly #context: BatchContext;
  readonly #staged: StagedState;
  readonly #admission: Admission;
  readonly #records: OutgoingRecord[] = [];
  readonly #journal: { readonly record: JournalRecord; readonly index: number }[] = [];
  readonly #bytes = new Map<Topic, number>();
  /** Bytes of the topic with the most. */
  #bytesMost = 0;
  #inputs = 0;
  #journaled = 0;
  #lastJournaled = -1;
  #deadLetters = 0;
  #forwarded = 0;
  /** Has no acceptance any more once a record carries it. */
  #anchorTerms: AnchorTerms | null;

  constructor(context: BatchContext, state: PartitionState) {
    this.#context = context;
    this.#anchorTerms = context.anchor;
    this.#staged = new StagedState(state);
    this.#admission = new Admission(context, this.#staged);
  }

  /** A batch closes at its number of inputs, at the bytes of one topic, and at a hash record. */
  isFull(limits: BatchLimits): boolean {
    if (this.#staged.atHashRecord || this.#inputs >= limits.inputsMax) return true;
    return this.#inputs > 0 && this.#bytesMost >= limits.bytesMax;
  }

  /** @param next the offset of its topic to read next, where inputs before it still wait. */
  add(fetched: FetchedInput, next = fetched.record.offset + 1): void {
    const { topic, record } = fetched;
    const at: InputPosition = {
      topic,
      partition: this.#context.partition,
      offset: record.offset,
      appendTimeMs: record.appendTimeMs,
    };
    const progress = this.#advance(at, next);
    try {
      this.#journalize(this.#judge(fetched, at, progress.clocks[topic]), progress);
    } catch (error) {
      // These errors are not the fault of this input: without its secret the gate can write no
      // allowed call, a retryable error may pass, and a corrupt state needs a rebuild.
      const isOurs = error instanceof FatalError && error.code === "secret_missing";
      const isForNow = error instanceof RetryableError || error instanceof StateCorruptError;
      if (isOurs || isForNow) throw error;
      const message = this.#isHidden(topic) ? HIDDEN_TEXT : errorText(error);
      this.#context.metrics.count("internal_errors");
      this.#context.logger.error("an input could not be processed and went to the dead letters", {
        topic,
        partition: at.partition,
        offset: at.offset,
        message,
      });
      this.#journalize(this.#makeQuarantined(fetched, at, "internal_error", message), progress);
    }
    this.#inputs += 1;
  }

  /**
   * Sends the input to the dead letters without decoding it, because it cannot be written as it is.
   */
  quarantine(
    fetched: FetchedInput,
    next: number,
    { code, message }: { readonly code: QuarantineCode; readonly message: string },
  ): void {
    const { topic, record } = fetched;
    const { partition } = this.#context;
    const at = { topic, partition, offset: record.offset, appendTimeMs: record.appendTimeMs };
    const progress = this.#advance(at, next);
    this.#journalize(this.#makeQuarantined(fetched, at, code, message), progress);
    this.#inputs += 1;
  }

  /** Adds a journal record without an input. */
  addIdle(): void {
    const { progress } = this.#staged;
    const judged: Judged = { input: { type: "idle" }, events: [], key: null, outputs: [] };
    this.#journalize(judged, { ...progress, seq: progress.seq + 1 });
  }

  build(): StagedBatch {
    return {
      staged: this.#staged,
      records: this.#records,
      journal: this.#journal,
      journaled: this.#journaled,
      lastJournaled: this.#lastJournaled,
      inputs: this.#inputs,
      decisions: this.#records.length - this.#journaled - this.#deadLetters - this.#forwarded,
      deadLetters: this.#deadLetters,
      forwarded: this.#forwarded,
    };
  }

  #judge(fetched: FetchedInput, at: InputPosition, nowMs: number): Judged {
    const { record } = fetched;
    if (record.unreadable !== undefined) {
      return this.#makeQuarantined(fetched, at, "unreadable", record.unreadable);
    }
    const decoded = this.#context.codec.decodeInput(at.topic, record.value);
    if (!decoded.ok) return this.#makeQuarantined(fetched, at, "undecodable", decoded.message);
    if (decoded.input.type === "tick") return this.#tick(decoded.input, at, nowMs);
    const { tenantId, conversationId } = decoded.input;
    const key = conversationKey(tenantId, conversationId);
    const route = routeOf(key, record, this.#context);
    if (route.type === "forward") return forwardInput(record, at, key, route.partition);
    const misrouted = route.type === "misrouted" ? route.message : null;
    if (misrouted !== null && decoded.input.type !== "proposal") {
      return this.#makeQuarantined(fetched, at, "misrouted", misrouted);
    }
    const vouched = this.#vouchFor(decoded.input, record, nowMs);
    const { engine } = this.#context;
    const state = this.#staged.state(key);
    const input = this.#admission.admit(rejectMisrouted(vouched, misrouted), state, nowMs);
    const sealed = engine.seal(state, input, nowMs);
    const events = engine.decide(state, sealed, nowMs, this.#staged.readClaim);
    const journaled = sealed.type === "proposal" ? withoutClear(sealed) : sealed;
    // Reuses the bytes of the input's key: each log would otherwise encode the text again.
    const written = record.key !== null && isKey(record.key, key) ? record.key : key;
    const done: DecidedInput = { type: "decided", at, input: journaled };
    return this.#makeDecided(done, written, events, record.headers);
  }

  #vouchFor(input: GateInput, record: LogRecord, nowMs: number): GateInput {
    const { authority } = this.#context;
    if (authority === undefined || input.type !== "proposal") return input;
    return authority.vouch(input, record, nowMs);
  }

  #tick(input: GateInput, at: InputPosition, nowMs: number): Judged {
    const events: GateEvent[] = [];
    const read = readAfter(events, this.#staged.readClaim);
    for (const key of this.#staged.due(nowMs)) {
      events.push(...this.#context.engine.decide(this.#staged.state(key), input, nowMs, read));
    }
    return this.#makeDecided({ type: "decided", at, input }, null, events, NO_HEADERS);
  }

  #makeDecided(
    input: DecidedInput,
    key: string | Uint8Array | null,
    events: readonly GateEvent[],
    headers: readonly RecordHeader[],
  ): Judged {
    const record = (event: GateEvent): readonly OutgoingRecord[] =>
      this.#outputsOf(event, input.at, key, headers);
    const [only] = events;
    const isOne = only !== undefined && events.length === 1;
    return { input, events, key, outputs: isOne ? record(only) : events.flatMap(record) };
  }

  #outputsOf(
    event: GateEvent,
    at: InputPosition,
    key: string | Uint8Array | null,
    inputHeaders: readonly RecordHeader[],
  ): readonly OutgoingRecord[] {
    if (event.type !== "allowed" && event.type !== "refused" && event.type !== "held") {
      return NO_RECORDS;
    }
    if (event.type === "refused" && event.refusal.reason === "internal_error") {
      this.#reportDefect(event, at);
    }
    const { topic, value } = this.#context.codec.encodeDecision(event, at);
    const { partition, eventSource } = this.#context;
    // A tick has no key, because its events are of many conversations.
    const written = key ?? conversationKey(event.tenantId, event.conversationId);
    const headers = decisionHeaders(event, inputHeaders, eventSource);
    return [{ topic, partition, key: written, value, headers }];
  }

  /** Reports a call that was refused because a check threw: somebody must look at the gate. */
  #reportDefect(
    { decisionId, call: { tool }, refusal }: CallRefused,
    { topic, offset }: InputPosition,
  ): void {
    const { partition, logger, metrics } = this.#context;
    metrics.count("internal_errors");
    const logFields = { topic, partition, offset, decisionId, tool, message: refusal.message };
    logger.error("a call could not be judged and was refused", logFields);
  }

  #makeQuarantined(
    { record }: FetchedInput,
    at: InputPosition,
    code: QuarantineCode,
    message: string,
  ): Judged {
    const { key } = record;
    // An input that is too large to be written does not fit into a dead letter either.
    const value = code === "too_large" || this.#isHidden(at.topic) ? null : record.value;
    const text = code === "undecodable" && this.#isHidden(at.topic) ? HIDDEN_TEXT : message;
    const letter = this.#context.codec.encodeDeadLetter({ at, code, message: text, key, value });
    const { partition } = this.#context;
    const output: OutgoingRecord = { topic: "deadLetters", partition, key, value: letter };
    return { input: { type: "quarantined", at, code }, events: [], key, outputs: [output] };
  }

  /**
   * Whether the topic's bytes stay out of dead letters and logs: some tool has sensitive arguments.
   */
  #isHidden(topic: InputTopic): boolean {
    return topic === "proposals" && this.#context.engine.hidesArguments;
  }

  #journalize(judged: Judged, progress: Progress): void {
    const { codec, engine, partition } = this.#context;
    const { seq, next, ahead, clocks } = progress;
    const before = this.#staged.progress;
    const applied = this.#staged.applyEvents(judged.events, seq);
    try {
      const isHashRecord = this.#admission.needsRoom || seq % this.#context.hashEvery === 0;
      const lapse = isHashRecord ? this.#staged.lapse(clocks.proposals, applied.stateSum) : null;
      const record: JournalRecord = {
        seq,
        prevHash: before.chainHead,
        input: judged.input,
        next,
        clocks,
        previousAtMs: before.latestMs,
        policyRevision: engine.policyRevision,
        events: judged.events,
        stateHash: lapse === null ? null : sumText(lapse.stateSum),
        anchor: this.#anchorOf(judged.input, progress),
      };
      const value = codec.encodeJournal(record);
      const chainHead = chainHash(before.chainHead, value);
      if (lapse !== null) this.#staged.acceptLapse(lapse);
      const { stateSum } = lapse ?? applied;
      const { latestMs } = progress;
      const anchor = anchoredBy(record.anchor, latestMs) ?? before.anchor;
      this.#staged.advance({ seq, chainHead, next, ahead, clocks, latestMs, stateSum, anchor });
      if (record.anchor !== null) this.#dropAcceptance(record.anchor);
      const index = this.#records.length;
      this.#journaled += 1;
      this.#lastJournaled = index;
      if (this.#context.keepsRecords) this.#journal.push({ record, index });
      this.#push({ topic: JOURNAL_TOPIC, partition, key: judged.key, value });
      for (const output of judged.outputs) this.#push(output);
      if (judged.input.type === "quarantined") this.#deadLetters += 1;
      if (judged.input.type === "forwarded") this.#forwarded += 1;
    } catch (error) {
      applied.undo();
      throw error;
    }
  }

  #anchorOf(input: JournalInput, { latestMs, anchor }: Progress): JournalAnchor | null {
    const terms = this.#anchorTerms;
    return terms === null ? null : anchorFor(anchor, terms, latestMs, input.type === "idle");
  }

  #dropAcceptance({ accepted }: JournalAnchor): void {
    const terms = this.#anchorTerms;
    if (accepted !== null && terms !== null) this.#anchorTerms = { ...terms, acceptance: null };
  }

  #push(record: OutgoingRecord): void {
    this.#records.push(record);
    let size = (record.value?.length ?? 0) + (record.key?.length ?? 0);
    // Callers may write headers of any size, and those that are passed on count as well.
    for (const { name, value } of record.headers ?? NO_HEADERS) size += name.length + value.length;
    const bytes = (this.#bytes.get(record.topic) ?? 0) + size;
    this.#bytes.set(record.topic, bytes);
    if (bytes > this.#bytesMost) this.#bytesMost = bytes;
  }

  /** The partition's progress after the input is journaled; its clock never goes back. */
  #advance(at: InputPosition, nextOffset: number): Progress {
    const { progress } = this.#staged;
    const clockMs = Math.max(progress.clocks[at.topic], at.appendTimeMs);
    return {
      seq: progress.seq + 1,
      chainHead: progress.chainHead,
      next: replaceTopic(progress.next, at.topic, nextOffset),
      ahead: noteDecided(progress.ahead, at.topic, at.offset, nextOffset),
      clocks: replaceTopic(progress.clocks, at.topic, clockMs),
      latestMs: Math.max(progress.latestMs, clockMs),
      stateSum: progress.stateSum,
      anchor: progress.anchor,
    };
  }
}

/** The text instead of a parser's or library's message, which may quote sensitive arguments. */
const HIDDEN_TEXT =
  "more is left out, since arguments are sensitive: the topic has it at this offset";

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
