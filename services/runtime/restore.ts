/**
 * Taking a partition over: fence, then read.
 *
 * RESTORE-1 nothing that was read before the fence is taken for the end: until then the previous owner may
 *    still add to it. What was prepared before is what it is of, and is read on from there.
 * RESTORE-2 state and positions come from the journal; a checkpoint only shortens the reading.
 * RESTORE-3 what does not fit is dropped and read again from further back: first what this process still
 *    held, then the checkpoint. A journal that does not fit by itself is not run.
 * RESTORE-4 a journal that ends before its head, or needs a secret that is not here, is not run (journal-head.ts,
 *    anchor.ts), unless a person accepted the loss.
 */
import { type Acceptance, assertSecrets } from "./anchor.ts";
import { endOfDecided } from "./decided-ahead.ts";
import { FatalError, StateCorruptError } from "./errors.ts";
import { findHeadProblem, type HeadStore, journalLost, type StoredHead } from "./journal-head.ts";
import type { PartitionState, Progress } from "./partition-state.ts";
import type { PartitionWriter } from "./ports.ts";
import { needsRegistry, readJournal } from "./read-journal.ts";
import { Replay } from "./replay.ts";
import type { RestoreContext, RestoreSource, Start, StoredMark } from "./restore-context.ts";
import { assertRetentionIntact, startFrom } from "./restore-start.ts";
import { INPUT_TOPICS, type InputTopic, JOURNAL_TOPIC, type PerInput } from "./topics.ts";

export type Restored = {
  readonly writer: PartitionWriter;
  readonly state: PartitionState;
  readonly source: RestoreSource;
  /** Null: as it was told for the state that was held. */
  readonly stored: StoredMark | null;
  /** How many journal records were replayed. */
  readonly replayed: number;
  readonly fencedMs: number;
  /** A loss that a person accepted, to be reported by the next journal record. */
  readonly acceptance: Acceptance | null;
};

const OFFSETS_RETRY_MS = 1_000;
/** A copy that is put back on a cluster fits neither its group's offsets nor its other topics. */
const BEGIN_ANEW =
  "on a cluster find out who else writes it, and start with another topic prefix; restore an embedded log from " +
  "a backup, or move it away to start with an empty one";
/**
 * Longest work without a pause: a long journal must not keep the process from everything else it
 * does.
 */
const SLICE_MS = 20;
const ONE_RECORD = { recordsMax: 1, bytesMax: 1 };

/**
 * @param takeInMemory what this process still has, or has prepared: asked for after the fence, and read on from
 *   there.
 * @throws PipelineError, see errors.ts.
 */
export async function restorePartition(
  context: RestoreContext,
  takeInMemory: () => Promise<Start | null>,
): Promise<Restored> {
  const startedMs = context.clock.nowMs();
  const writer = await context.ownership.takeOver(context.partition);
  const fencedMs = context.clock.nowMs() - startedMs;
  try {
    const start = await takeInMemory();
    const acceptance = await assertNothingLost(context);
    const restored = await readState(context, writer, start);
    assertSecretsOf(context, restored.state, acceptance);
    return { ...restored, fencedMs, acceptance };
  } catch (error) {
    await writer.close();
    throw error;
  }
}

async function readState(
  context: RestoreContext,
  writer: PartitionWriter,
  inMemory: Start | null,
): Promise<Omit<Restored, "fencedMs" | "acceptance">> {
  const stored: readonly RestoreSource[] = context.distrustsStore ? [] : ["store"];
  const again: readonly RestoreSource[] = [...stored, "checkpoint", "journal"];
  const sources: readonly RestoreSource[] = inMemory === null ? again : ["inMemory", ...again];
  for (const source of sources) {
    const end = await endOf(context);
    try {
      const start =
        source === "inMemory"
          ? await assertStillThere(context, inMemory, end)
          : await startFrom(context, source, end, context.reportedSeq);
      if (start === null) continue;
      context.onStart(start);
      const replayed =
        (await replay(context, start, end)) + (await catchUp(context, writer, start));
      await assertSameLog(context, start.state.progress);
      return { writer, state: start.state, source, stored: start.stored, replayed };
    } catch (error) {
      if (!(error instanceof StateCorruptError) || source === "journal") throw asFatal(error);
      context.logger.warn("a state was dropped, it is read again from further back", {
        source,
        partition: context.partition,
        problem: error.message,
      });
    }
  }
  throw new FatalError("journal_broken", "there was nothing to restore from");
}

/** The loss that a person accepted before; null: nothing is lost, or no head is known. */
async function assertNothingLost(context: RestoreContext): Promise<Acceptance | null> {
  const { partition, clock, offsetsGraceMs } = context;
  const { heads } = context;
  const head = heads === null ? null : await loadHead(context, heads);
  if (heads === null || head === null) return null;
  if (head.acceptance !== null) return head.acceptance;
  const untilMs = clock.nowMs() + offsetsGraceMs;
  for (;;) {
    const problem = await findHeadProblem(context, head);
    if (problem === null) return null;
    // A broker that has just become the leader may not know all of the journal yet.
    const mayGrow = problem.type === "too_short";
    if (!mayGrow || clock.nowMs() >= untilMs) {
      throw journalLost([problem.loss], heads.remedy, partition);
    }
    await clock.sleep(OFFSETS_RETRY_MS);
  }
}

async function loadHead(context: RestoreContext, heads: HeadStore): Promise<StoredHead | null> {
  try {
    return await heads.load(context.partition);
  } catch (error) {
    // The head only reveals losses: a store that does not answer must not keep a journal from
    // running.
    context.logger.warn("the store of the journal's head did not answer: a loss may go unnoticed", {
      partition: context.partition,
      problem: error instanceof Error ? error.message : String(error),
    });
    return null;
  }
}

function assertSecretsOf(
  { secrets, clock, spanMs }: RestoreContext,
  { progress }: PartitionState,
  acceptance: Acceptance | null,
): void {
  if (secrets === null) return;
  assertSecrets(progress.anchor, secrets, acceptance, clock.nowMs() - spanMs);
}

function endOf(context: RestoreContext): Promise<number> {
  return context.log.endOffset(JOURNAL_TOPIC, context.partition);
}

/** A commit that was acknowledged and then taken back by the log: what is held is of no journal. */
async function assertStillThere(
  context: RestoreContext,
  inMemory: Start | null,
  end: number,
): Promise<Start | null> {
  if (inMemory === null || inMemory.state.progress.seq === 0) return inMemory;
  const { log, partition } = context;
  const last = inMemory.state.journalOffset - 1;
  if (last < (await log.startOffset(JOURNAL_TOPIC, partition))) return inMemory;
  // A log refuses to read beyond its end.
  if (last < end) {
    const { records } = await log.read(JOURNAL_TOPIC, partition, last, ONE_RECORD);
    if (records[0]?.offset === last) return inMemory;
  }
  throw new StateCorruptError(`the journal does not have the record at ${last} any more`, {
    context: { partition, offset: last },
  });
}

async function replay(context: RestoreContext, start: Start, end: number): Promise<number> {
  const { log, codec, partition, clock, spanMs } = context;
  const { state, hashesFromSeq } = start;
  const from =
    state.progress.seq === 0
      ? await log.startOffset(JOURNAL_TOPIC, partition)
      : state.journalOffset;
  const replaying = new Replay(state, {
    startMoved: from > 0,
    checkChain: true,
    hashesFromSeq,
    spanMs,
  });
  let replayed = 0;
  let sliceMs = clock.nowMs();
  for await (const entries of readJournal(log, codec, partition, from, end)) {
    const first = replayed === 0 ? entries[0]?.record : undefined;
    if (first !== undefined && from > 0 && state.progress.seq === 0 && first.seq > 1) {
      assertRetentionIntact(context, first.previousAtMs, from);
    }
    replaying.apply(entries);
    context.onReplayed(
      entries.map((entry) => ({
        offset: entry.log.offset,
        appendTimeMs: entry.log.appendTimeMs,
        record: entry.record,
      })),
    );
    replayed += entries.length;
    await context.makeRoom(state);
    if (clock.nowMs() - sliceMs < SLICE_MS) continue;
    await clock.sleep(0);
    sliceMs = clock.nowMs();
  }
  if (state.progress.seq < hashesFromSeq) {
    throw new StateCorruptError("the checkpoint holds events that the journal does not have", {
      context: { partition, seq: state.progress.seq, checkpointSeq: hashesFromSeq },
    });
  }
  return replayed;
}

/**
 * A recorded offset ahead of the journal means that somebody consumed inputs that were never
 * journaled, or that we read an old end of the journal. Going on would be right in the first case
 * and wrong in the second, so the journal is read again for a while, then the partition is refused.
 * Returns how many more records were replayed.
 */
async function catchUp(
  context: RestoreContext,
  writer: PartitionWriter,
  start: Start,
): Promise<number> {
  const untilMs = context.clock.nowMs() + context.offsetsGraceMs;
  let replayed = 0;
  for (;;) {
    const recorded = await writer.recordedOffsets();
    const { next } = start.state.progress;
    const ahead = INPUT_TOPICS.find((topic) => recorded[topic] > next[topic]);
    if (ahead === undefined) return replayed;
    if (context.clock.nowMs() >= untilMs) throw offsetsAhead(context, ahead, recorded, next);
    await context.clock.sleep(OFFSETS_RETRY_MS);
    replayed += await replay(context, start, await endOf(context));
  }
}

/**
 * A journal that has consumed offsets that its topics never had belongs to another log: it is a
 * copy, or the topics were created again.
 */
async function assertSameLog(context: RestoreContext, progress: Progress): Promise<void> {
  const { partition, log, clock, offsetsGraceMs } = context;
  const untilMs = clock.nowMs() + offsetsGraceMs;
  for (const topic of INPUT_TOPICS) {
    const consumed = endOfDecided(progress, topic);
    // A broker that has just become the leader may not know the topic's end yet, so it is asked
    // again.
    let end = await log.endOffset(topic, partition);
    while (end < consumed) {
      if (clock.nowMs() >= untilMs) throw anotherLog(context, topic, consumed, end);
      await clock.sleep(OFFSETS_RETRY_MS);
      end = await log.endOffset(topic, partition);
    }
  }
}

function anotherLog(
  context: RestoreContext,
  topic: InputTopic,
  next: number,
  end: number,
): FatalError {
  return new FatalError(
    "log_mismatch",
    `the journal has consumed ${topic}[${context.partition}] up to offset ${next}, and the topic ends ` +
      `at ${end}: it is the journal of another cluster, or the topic was created again. Give the gate the ` +
      "topics that belong together, or start with an empty journal under another prefix",
    { context: { partition: context.partition, next, end } },
  );
}

function offsetsAhead(
  context: RestoreContext,
  topic: InputTopic,
  recorded: PerInput,
  next: PerInput,
): FatalError {
  return new FatalError(
    "offsets_ahead",
    `the recorded offset of ${topic}[${context.partition}] is ${recorded[topic]}, the journal says ` +
      `${next[topic]}: find out who else commits for this group, then reset the group's offset to ` +
      "what the journal says",
    { context: { partition: context.partition, recorded: recorded[topic] } },
  );
}

function asFatal(error: unknown): unknown {
  if (!(error instanceof StateCorruptError)) return error;
  const message = `the journal cannot be replayed: ${error.message}. Nothing is decided on it`;
  // The codec's message says what is missing, and nothing is wrong with the journal.
  const remedy = needsRegistry(error) ? " until then" : `; ${BEGIN_ANEW}`;
  const options = { cause: error, context: error.context };
  return new FatalError("journal_broken", `${message}${remedy}`, options);
}
