// Judges a run by its topics alone, never by what the gate had in memory. Of the task's code it
// shares only the core, the codec and the hash functions: it computes journal order, positions,
// clocks, ticks, state hashes and outputs again, in a slow and plain way.
import { isDeepStrictEqual } from "node:util";
import type { DecisionEvent, GateEvent } from "../../../services/core/events.ts";
import { chainHash } from "../../../services/core/hash.ts";
import { isClaimKey } from "../../../services/core/state/claims.ts";
import { hasLapsed } from "../../../services/core/state/deadline.ts";
import type { ConversationState } from "../../../services/core/state/state.ts";
import type { Engine } from "../../../services/runtime/engine.ts";
import { GENESIS_HASH, type JournalRecord } from "../../../services/runtime/journal.ts";
import type { Codec, DeadLetter } from "../../../services/runtime/ports.ts";
import {
  conversationHash,
  exchangeHash,
  NO_SUM,
  sumText,
} from "../../../services/runtime/state-hash.ts";
import { INPUT_TOPICS, type InputTopic, type Topic } from "../../../services/runtime/topics.ts";
import { checkInputs, type DecidedOffsets } from "./check-inputs.ts";

/** What the checker may read: every record of one partition. */
export type TopicReader = (topic: Topic) => readonly {
  readonly offset: number;
  readonly value: Uint8Array | null;
}[];

/** The encoding of the records. */
export type CheckedCodec = Pick<Codec, "decodeJournal" | "decodeInput" | "encodeDecision"> & {
  decodeDeadLetter(value: Uint8Array): Pick<DeadLetter, "at" | "code">;
};

const TICK_CONVERSATIONS_MAX = 100;
const DECISION_TOPICS = ["allowed", "refused", "held"] as const;
/** A transaction of the gate has no more inputs. */
const TRANSACTION_INPUTS_MAX = 500;

/**
 * `going-on`: the topics were read while a gate decided, the journal's end first. Inputs may wait
 * and calls be held; the transaction in flight may be visible in one topic and not in another.
 */
export type Stage = "finished" | "going-on";

/** All problems of the run; empty where it is correct. */
export function checkTopics(
  read: TopicReader,
  engineOf: (revision: string) => Engine,
  codec: CheckedCodec,
  stage: Stage = "finished",
): readonly string[] {
  const problems: string[] = [];
  const journal: JournalRecord[] = [];
  let chain = GENESIS_HASH;
  for (const { offset, value } of read("decisions")) {
    const record = codec.decodeJournal(value ?? new Uint8Array());
    if (record.seq !== journal.length + 1) {
      problems.push(`journal offset ${offset}: seq ${record.seq} instead of ${journal.length + 1}`);
    }
    if (record.prevHash !== chain) problems.push(`journal offset ${offset}: the chain is broken`);
    chain = chainHash(record.prevHash, value ?? new Uint8Array());
    journal.push(record);
  }
  const decided = checkInputs(read, journal, problems);
  checkOutputs(read, journal, { codec, stage, problems });
  const held = checkTerminal(journal, problems);
  if (stage === "finished") problems.push(...undecided(read, decided, codec), ...open(held));
  checkAgain(journal, engineOf, problems);
  return problems;
}

/** A tick that came after everything was decided, before the topics were read, asks for nothing. */
function undecided(
  read: TopicReader,
  decided: DecidedOffsets,
  codec: CheckedCodec,
): readonly string[] {
  return INPUT_TOPICS.flatMap((topic) => {
    const left = read(topic)
      .filter(({ offset }) => !decided[topic].has(offset))
      .filter(({ value }) => !isTick(topic, value, codec));
    const offsets = left.map(({ offset }) => offset).join(", ");
    return left.length === 0 ? [] : [`${topic}: not decided: ${offsets}`];
  });
}

function isTick(topic: InputTopic, value: Uint8Array | null, codec: CheckedCodec): boolean {
  const decoded = codec.decodeInput(topic, value);
  return decoded.ok && decoded.input.type === "tick";
}

function open(held: ReadonlySet<string>): readonly string[] {
  return [...held].map((decisionId) => `${decisionId} was held and never decided`);
}

type OutputCheck = {
  readonly codec: CheckedCodec;
  readonly stage: Stage;
  readonly problems: string[];
};

/**
 * Checks that outputs and dead letters are those of the journal, in its order, none more and none
 * less.
 */
function checkOutputs(
  read: TopicReader,
  journal: readonly JournalRecord[],
  { codec, stage, problems }: OutputCheck,
): void {
  const apartMax = stage === "finished" ? 0 : TRANSACTION_INPUTS_MAX;
  for (const topic of DECISION_TOPICS) {
    const written = read(topic).map(({ value }) => textOf(value));
    const journaled = journal.flatMap(({ input, events }) =>
      input.type === "idle"
        ? []
        : events
            .filter(
              (event) =>
                event.type === "allowed" || event.type === "refused" || event.type === "held",
            )
            .filter(({ type }) => type === topic)
            .map((event) => textOf(codec.encodeDecision(event, input.at).value)),
    );
    problems.push(...differences(`topic ${topic}`, written, journaled, apartMax));
  }
  const letters = read("deadLetters").map(({ value }) => {
    const { at, code } = codec.decodeDeadLetter(value ?? new Uint8Array());
    return `${at.topic}/${at.offset} ${code}`;
  });
  const quarantined = journal.flatMap(({ input }) =>
    input.type === "quarantined" ? [`${input.at.topic}/${input.at.offset} ${input.code}`] : [],
  );
  problems.push(...differences("dead letters", letters, quarantined, apartMax));
}

function textOf(value: Uint8Array | null): string {
  return Buffer.from(value ?? []).toString("latin1");
}

/**
 * Compares record by record as far as both lists go; their lengths may differ by so many records.
 */
function differences(
  what: string,
  written: readonly string[],
  journaled: readonly string[],
  apartMax: number,
): readonly string[] {
  const apart = Math.abs(written.length - journaled.length);
  const at = journaled.slice(0, written.length).findIndex((text, index) => written[index] !== text);
  return [
    ...(apart > apartMax
      ? [`${what}: ${written.length} written, ${journaled.length} journaled`]
      : []),
    ...(at >= 0 ? [`${what}: record ${at} is not what the journal says`] : []),
  ];
}

type Decided = {
  readonly terminal: Map<string, DecisionEvent>;
  /** Decision ids of calls that are held and not decided yet. */
  readonly held: Set<string>;
};

/**
 * Checks that each proposal has one terminal decision, which every repetition returns. Returns the
 * calls that are still held.
 */
function checkTerminal(journal: readonly JournalRecord[], problems: string[]): ReadonlySet<string> {
  const decided: Decided = { terminal: new Map(), held: new Set() };
  for (const { seq, input, events } of journal) {
    if (input.type !== "decided") continue;
    const decisions = events.filter(({ type }) => type !== "claimed").length;
    if (input.input.type === "proposal" && (decisions !== 1 || events[0]?.type === "claimed")) {
      problems.push(`seq ${seq}: a proposal with ${decisions} decisions`);
    }
    for (const event of events) {
      const problem = follow(event, decided);
      if (problem !== null) problems.push(`seq ${seq}: ${problem}`);
    }
  }
  return decided.held;
}

function follow(event: GateEvent, { terminal, held }: Decided): string | null {
  if (event.type === "held") held.add(event.decisionId);
  if (event.type === "repeated") return checkRepeated(event.decision, terminal, held);
  if (event.type !== "allowed" && event.type !== "refused") return null;
  if (event.conversation.fresh) forgetConversation(event, terminal);
  const again = isSecond(event, terminal.get(event.decisionId));
  terminal.set(event.decisionId, event);
  held.delete(event.decisionId);
  return again ? `a second terminal decision ${event.decisionId}` : null;
}

/**
 * Refusals that store nothing under their call name, because the name belongs to another call or is
 * invalid.
 */
const UNNAMED = ["call_id_conflict", "malformed", "misrouted", "overloaded"];

function isSecond(event: DecisionEvent, before: DecisionEvent | undefined): boolean {
  if (before === undefined) return false;
  return !(event.type === "refused" && UNNAMED.includes(event.refusal.reason));
}

/** Forgets what a conversation that starts afresh no longer remembers. */
function forgetConversation(fresh: DecisionEvent, terminal: Map<string, DecisionEvent>): void {
  for (const [id, { tenantId, conversationId }] of terminal) {
    if (tenantId === fresh.tenantId && conversationId === fresh.conversationId) terminal.delete(id);
  }
}

function checkRepeated(
  decision: DecisionEvent,
  terminal: ReadonlyMap<string, DecisionEvent>,
  held: ReadonlySet<string>,
): string | null {
  if (decision.type === "held") {
    return held.has(decision.decisionId) ? null : "it repeats a hold that has ended";
  }
  const first = terminal.get(decision.decisionId);
  return isDeepStrictEqual(first, decision) ? null : "it differs from the decision that it repeats";
}

type HashedState = { readonly state: ConversationState; readonly hash: string };

/** Decides the journal's inputs again in sequence, and compares events, clocks and state hashes. */
function checkAgain(
  journal: readonly JournalRecord[],
  engineOf: (revision: string) => Engine,
  problems: string[],
): void {
  const states = new Map<string, HashedState>();
  const clocks: Record<InputTopic, number> = { proposals: 0, results: 0, verdicts: 0 };
  for (const record of journal) {
    const { seq, input } = record;
    const engine = engineOf(record.policyRevision);
    if (input.type !== "idle") {
      const { topic, appendTimeMs } = input.at;
      clocks[topic] = Math.max(clocks[topic], appendTimeMs);
    }
    if (JSON.stringify(clocks) !== JSON.stringify(inOrder(record.clocks))) {
      problems.push(`seq ${seq}: the clocks are not the largest append times so far`);
    }
    const events = decideAgain(record, engine, states, clocks);
    if (!isDeepStrictEqual(plain(events), plain(record.events))) {
      const where = difference(events, record.events);
      problems.push(`seq ${seq}: the events of a decision in sequence differ: ${where}`);
    }
    applyEvents(engine, states, record, problems);
    if (record.stateHash === null) continue;
    dropLapsed(engine, states, clocks.proposals);
    if (record.stateHash !== hashOf(states)) {
      problems.push(`seq ${seq}: the state hash differs`);
    }
  }
}

const SHOWN_CHARACTERS = 80;

/**
 * The events as JSON has them: the codec may change the order of members, and undefined members are
 * dropped.
 */
function plain(events: readonly GateEvent[]): unknown {
  return JSON.parse(JSON.stringify(events));
}

/** The first path at which two values differ. */
function difference(ours: unknown, theirs: unknown, path = ""): string {
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null;
  if (isObject(ours) && isObject(theirs)) {
    const keys = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
    const key = keys.find((one) => !isDeepStrictEqual(ours[one], theirs[one]));
    if (key !== undefined) return difference(ours[key], theirs[key], `${path}/${key}`);
  }
  const text = (value: unknown) => (JSON.stringify(value) ?? "").slice(0, SHOWN_CHARACTERS);
  return `${path} ${text(ours)} instead of ${text(theirs)}`;
}

function decideAgain(
  { input }: JournalRecord,
  engine: Engine,
  states: ReadonlyMap<string, HashedState>,
  clocks: Readonly<Record<InputTopic, number>>,
): readonly GateEvent[] {
  if (input.type !== "decided") return [];
  const nowMs = clocks[input.at.topic];
  const readClaim = (tenantId: string, claimId: string): ConversationState | undefined =>
    states.get(`${tenantId}/${claimId}`)?.state;
  if (input.input.type !== "tick") {
    const { tenantId, conversationId } = input.input;
    const key = `${tenantId}/${conversationId}`;
    return engine.decide(states.get(key)?.state, input.input, nowMs, readClaim);
  }
  const due = [...states]
    .map(([key, { state }]) => ({ key, state, at: engine.nextDeadlineMs(state) ?? Infinity }))
    .filter(({ at }) => at <= nowMs)
    .sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1))
    .slice(0, TICK_CONVERSATIONS_MAX);
  // Several conversations may change one claim in one tick: each sees what those before it did.
  const changed = new Map<string, ConversationState | undefined>();
  const readChanged = (tenantId: string, claimId: string): ConversationState | undefined =>
    changed.get(`${tenantId}/${claimId}`) ?? readClaim(tenantId, claimId);
  return due.flatMap(({ state }) => {
    const events = engine.decide(state, { type: "tick" }, nowMs, readChanged);
    for (const event of events) {
      if (event.type !== "claimed") continue;
      const key = `${event.tenantId}/${event.conversationId}`;
      changed.set(key, engine.evolve(undefined, event));
    }
    return events;
  });
}

function applyEvents(
  engine: Engine,
  states: Map<string, HashedState>,
  { seq, events }: JournalRecord,
  problems: string[],
): void {
  const after = new Map<string, ConversationState>();
  for (const event of events) {
    const key = `${event.tenantId}/${event.conversationId}`;
    const before = after.get(key) ?? states.get(key)?.state;
    try {
      const state = engine.evolve(before, event);
      if (state !== undefined && state !== before) after.set(key, state);
    } catch {
      problems.push(`seq ${seq}: an event of a conversation that is not in that state`);
    }
  }
  for (const [key, state] of after) {
    const before = isClaimKey(key) ? "" : (states.get(key)?.hash ?? "");
    states.set(key, { state, hash: conversationHash(before, key, seq, state) });
  }
}

function dropLapsed(engine: Engine, states: Map<string, HashedState>, proposalsAtMs: number): void {
  for (const [key, { state }] of states) {
    const isOver = hasLapsed(state, proposalsAtMs);
    if (isOver && engine.nextDeadlineMs(state) === undefined) states.delete(key);
  }
}

function hashOf(states: ReadonlyMap<string, HashedState>): string {
  let sum = NO_SUM;
  for (const { hash } of states.values()) sum = exchangeHash(sum, "", hash);
  return sumText(sum);
}

function inOrder(clocks: Readonly<Record<InputTopic, number>>): Record<InputTopic, number> {
  return { proposals: clocks.proposals, results: clocks.results, verdicts: clocks.verdicts };
}
