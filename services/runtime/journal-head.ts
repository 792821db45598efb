/**
 * How far a journal had come, stored outside of it. A journal that ends before its head has lost
 * decisions, and calls that ran would run again.
 *
 * HEAD-1 a head is written after what it names is durable: it may lag behind the journal, and never
 *    leads it. No crash makes a journal look as if it had lost something.
 * HEAD-2 a journal that does not have the record that its head names is not run, until a person
 *    accepts the loss; the gate journals that before it decides anything.
 */
import type { Acceptance } from "./anchor.ts";
import { standsInChain } from "./checkpoint.ts";
import { FatalError, StateCorruptError } from "./errors.ts";
import type { PartitionState } from "./partition-state.ts";
import type { Codec, Log } from "./ports.ts";
import { JOURNAL_TOPIC } from "./topics.ts";

export type JournalHead = {
  /** Topic id of the journal, as `Log.topicId` returns it. */
  readonly topicId: string;
  /** Offset after the last record that the head covers. */
  readonly journalOffset: number;
  readonly seq: number;
  readonly chainHead: string;
};

export type StoredHead = JournalHead & {
  /** A loss that a person accepted and that no journal record has reported yet. */
  readonly acceptance: Acceptance | null;
};

/** Where heads are stored: beside the log, never in it. */
export interface HeadStore {
  /** What to do about a journal that lost records: a sentence without a full stop. */
  readonly remedy: string;
  /** Null where the store has no head. @throws where the store does not answer. */
  load(partition: number): Promise<StoredHead | null>;
  /** Durable when it resolves. Drops a stored acceptance: the journal has it by then. */
  save(partition: number, head: JournalHead): Promise<void>;
}

export type HeadProblem = {
  readonly type: "made_anew" | "too_short" | "other_history";
  /** What is lost: a sentence without a full stop. */
  readonly loss: string;
};

type JournalOf = { readonly log: Log; readonly codec: Codec; readonly partition: number };

export function headOf(log: Log, state: PartitionState): JournalHead {
  const { seq, chainHead } = state.progress;
  const { journalOffset } = state;
  return { topicId: log.topicId(JOURNAL_TOPIC), journalOffset, seq, chainHead };
}

/** Null where the journal has everything that its head covers. */
export async function findHeadProblem(
  { log, codec, partition }: JournalOf,
  head: JournalHead,
): Promise<HeadProblem | null> {
  const { seq, journalOffset } = head;
  if (seq === 0) return null;
  const which = `the journal of partition ${partition}`;
  if (head.topicId !== log.topicId(JOURNAL_TOPIC)) {
    const loss = `${which} was made anew: all that the one before it held, records 1 to ${seq}, is gone`;
    return { type: "made_anew", loss };
  }
  const end = await log.endOffset(JOURNAL_TOPIC, partition);
  if (end < journalOffset) {
    const loss = `${which} ends at offset ${end} and had come to ${journalOffset} (record ${seq}): what was decided after its end is gone`;
    return { type: "too_short", loss };
  }
  // Retention has deleted the record, so it was there.
  if (journalOffset - 1 < (await log.startOffset(JOURNAL_TOPIC, partition))) return null;
  if (await isInChain({ log, codec, partition }, head)) return null;
  const loss = `${which} has another record at offset ${journalOffset - 1} than the one it had (record ${seq}): it is a copy with another history`;
  return { type: "other_history", loss };
}

async function isInChain(journal: JournalOf, head: JournalHead): Promise<boolean> {
  try {
    return await standsInChain(head, journal);
  } catch (error) {
    if (error instanceof StateCorruptError) return false;
    throw error;
  }
}

/** @param remedy what to do: a sentence without a full stop. */
export function journalLost(
  losses: readonly string[],
  remedy: string,
  partition?: number,
): FatalError {
  const context = partition === undefined ? {} : { partition };
  return new FatalError(
    "journal_lost",
    `${losses.join("; ")}. Calls that ran might run again. ${remedy}`,
    { context },
  );
}

/** Parses what a store holds; null where it is no head. */
export function parseHead(value: unknown): StoredHead | null {
  if (!isRecord(value)) return null;
  const { topicId, journalOffset, seq, chainHead } = value;
  if (typeof topicId !== "string" || typeof chainHead !== "string") return null;
  if (!isCount(journalOffset) || !isCount(seq)) return null;
  const acceptance = parseAcceptance(value["acceptance"]);
  return acceptance === undefined ? null : { topicId, journalOffset, seq, chainHead, acceptance };
}

function parseAcceptance(value: unknown): Acceptance | null | undefined {
  if (value === null) return null;
  if (!isRecord(value)) return undefined;
  const { by, reason, atMs, losses, lostKeyIds } = value;
  const isWhole =
    typeof by === "string" &&
    (reason === null || typeof reason === "string") &&
    isCount(atMs) &&
    isTexts(losses) &&
    isTexts(lostKeyIds);
  return isWhole ? { by, reason, atMs, losses, lostKeyIds } : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
