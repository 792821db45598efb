/**
 * Taking a partition over: fence, then read.
 *
 * R1 nothing is read before the fence: until then the previous owner may still add to it.
 * R2 state and positions come from the journal; a checkpoint only shortens the reading.
 * R3 what does not fit is dropped and read again from further back: first what this process still
 *    held, then the checkpoint. A journal that does not fit by itself is not run.
 */

import { useCheckpoint } from "./checkpoint.ts";
import type { StateFold } from "./engine.ts";
import { FatalError, PipelineError, StateCorruptError } from "./errors.ts";
import type { CommittedRecord } from "./journal.ts";
import { PartitionState } from "./partition-state.ts";
import type {
  CheckpointStore,
  Clock,
  Codec,
  Log,
  Logger,
  Ownership,
  PartitionWriter,
} from "./ports.ts";
import { readJournal } from "./read-journal.ts";
import { Replay } from "./replay.ts";
import type { Safeguards } from "./safeguards.ts";
import { INPUT_TOPICS, type InputTopic, JOURNAL_TOPIC, type PerInput } from "./topics.ts";

export type RestoreContext = {
  readonly partition: number;
  readonly log: Log;
  readonly ownership: Ownership;
  readonly checkpoints: CheckpointStore | null;
  readonly codec: Codec;
  readonly fold: StateFold;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly safeguards: Safeguards;
  /** How long what a conversation was can matter: its longest life and the longest hold. */
  readonly spanMs: number;
  /**
   * Listeners of this process know the journal up to this record: a checkpoint beyond it would hide
   * records from them. Null: they know nothing yet, and need not.
   */
  readonly toldSeq: number | null;
  /** Told of each replayed record, before the partition runs. */
  readonly onReplayed: (records: readonly CommittedRecord[]) => void;
  /** How long a recorded offset may be ahead of the journal before the partition is refused. */
  readonly offsetsGraceMs: number;
};

export type Restored = {
  readonly writer: PartitionWriter;
  readonly state: PartitionState;
  readonly source: RestoreSource;
  /** What the checkpoint store holds, as `CheckpointStore.save` wants to know it. */
  readonly mark: string | null;
  /** How many journal records were replayed. */
  readonly replayed: number;
};

type Start = {
  readonly state: PartitionState;
  readonly hashesFromSeq: number;
  readonly mark: string | null;
};

/** What the state was built on; the journal is always replayed after it. */
export type RestoreSource = "held" | "checkpoint" | "journal";

const OFFSETS_RETRY_MS = 1_000;
const ONE_RECORD = { recordsMax: 1, bytesMax: 1 };

/**
 * @param held committed state this process still has; replayed from there on.
 * @throws PipelineError, see errors.ts.
 */
export async function restorePartition(
  context: RestoreContext,
  held: PartitionState | null,
): Promise<Restored> {
  const early = context.safeguards.endAfterFence ? null : await endOf(context);
  const writer = await context.ownership.takeOver(context.partition);
  try {
    return await readState(context, writer, held, early);
  } catch (error) {
    await writer.close();
    throw error;
  }
}

async function readState(
  context: RestoreContext,
  writer: PartitionWriter,
  held: PartitionState | null,
  early: number | null,
): Promise<Restored> {
  const again: readonly RestoreSource[] = ["checkpoint", "journal"];
  const sources: readonly RestoreSource[] = held === null ? again : ["held", ...again];
  for (const source of sources) {
    const end = early ?? (await endOf(context));
    try {
      const start = await startFrom(context, source, held, end);
      if (start === null) continue;
      const replayed =
        (await replay(context, start, end)) + (await catchUp(context, writer, start));
      await assertSameLog(context, start.state.progress.next);
      return { writer, state: start.state, source, mark: start.mark, replayed };
    } catch (error) {
      if (!(error instanceof StateCorruptError) || source === "journal") throw broken(error);
      context.logger.warn(`the ${source} state was dropped, it is read again from further back`, {
        partition: context.partition,
        problem: error.message,
      });
    }
  }
  throw new FatalError("journal_broken", "there was nothing to restore from");
}

function endOf(context: RestoreContext): Promise<number> {
  return context.log.endOffset(JOURNAL_TOPIC, context.partition);
}

async function startFrom(
  context: RestoreContext,
  source: RestoreSource,
  held: PartitionState | null,
  journalEnd: number,
): Promise<Start | null> {
  const { log, partition, fold } = context;
  if (source === "held" && held !== null) {
    await assertStillThere(context, held);
    return { state: held, hashesFromSeq: 0, mark: null };
  }
  const journalStart = await log.startOffset(JOURNAL_TOPIC, partition);
  if (source === "checkpoint") return fromCheckpoint(context, journalStart, journalEnd);
  if (journalStart > 0 && journalStart >= journalEnd) throw outOfReach(context, journalStart);
  const mark = (await loadCheckpoint(context))?.mark ?? null;
  return { state: new PartitionState(fold), hashesFromSeq: 0, mark };
}

/** A commit that was acknowledged and then taken back by the log: what is held is of no journal. */
async function assertStillThere(context: RestoreContext, held: PartitionState): Promise<void> {
  const { log, partition } = context;
  const last = held.journalOffset - 1;
  if (held.progress.seq === 0 || last < (await log.startOffset(JOURNAL_TOPIC, partition))) return;
  const { records } = await log.read(JOURNAL_TOPIC, partition, last, ONE_RECORD);
  if (records[0]?.offset === last) return;
  throw new StateCorruptError(`the journal does not have the record at ${last} any more`, {
    context: { partition, offset: last },
  });
}

async function fromCheckpoint(
  context: RestoreContext,
  journalStart: number,
  journalEnd: number,
): Promise<Start | null> {
  const { log, codec, partition, fold, safeguards } = context;
  const loaded = await loadCheckpoint(context);
  if (loaded === null) return null;
  const { toldSeq } = context;
  if (toldSeq !== null && (loaded.checkpoint?.header.seq ?? 0) > toldSeq) return null;
  const place = { log, codec, partition, fold, safeguards, journalStart, journalEnd };
  const use =
    loaded.checkpoint === null
      ? { ok: false as const, why: loaded.problem }
      : await useCheckpoint(loaded.checkpoint, place);
  if (use.ok) {
    const { state, newestSeq } = use;
    return { state, hashesFromSeq: newestSeq, mark: loaded.mark };
  }
  if (use.why !== null) {
    context.logger.warn("a checkpoint was ignored and will be replaced", {
      partition,
      problem: use.why,
    });
  }
  return null;
}

async function loadCheckpoint(
  context: RestoreContext,
): Promise<Awaited<ReturnType<CheckpointStore["load"]>> | null> {
  if (context.checkpoints === null) return null;
  try {
    return await context.checkpoints.load(context.partition);
  } catch (error) {
    // A checkpoint only saves time: without the store the journal is read from its start.
    context.logger.warn("the checkpoint store did not answer", {
      partition: context.partition,
      problem: error instanceof Error ? error.message : String(error),
    });
    return null;
  }
}

async function replay(context: RestoreContext, start: Start, end: number): Promise<number> {
  const { log, codec, partition, clock, safeguards, spanMs } = context;
  const { state, hashesFromSeq } = start;
  const from =
    state.progress.seq === 0
      ? await log.startOffset(JOURNAL_TOPIC, partition)
      : state.journalOffset;
  const replaying = new Replay(state, {
    startMoved: from > 0,
    checkChain: safeguards.chainCheck,
    hashesFromSeq,
    spanMs,
  });
  let replayed = 0;
  for await (const entries of readJournal(log, codec, partition, from, end)) {
    const first = replayed === 0 ? entries[0]?.record : undefined;
    if (first !== undefined && from > 0 && state.progress.seq === 0 && first.seq > 1) {
      assertNothingYoungIsGone(context, first.previousAtMs, from);
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
    // A long journal must not keep the process from everything else it does.
    await clock.sleep(0);
  }
  if (state.progress.seq < hashesFromSeq) {
    throw new StateCorruptError("the checkpoint holds events that the journal does not have", {
      context: { partition, seq: state.progress.seq, checkpointSeq: hashesFromSeq },
    });
  }
  return replayed;
}

/**
 * A recorded offset beyond the journal says that somebody consumed what was never journaled, or that
 * we were shown an old end of the journal. Going on would be right in the first case and wrong in the
 * second: the journal is read again for a while, then the partition is refused. Gives how many more
 * records were replayed.
 */
async function catchUp(
  context: RestoreContext,
  writer: PartitionWriter,
  start: Start,
): Promise<number> {
  const { positionsFromJournal, endAfterFence } = context.safeguards;
  if (!positionsFromJournal || !endAfterFence) return 0;
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

/** A journal that has consumed what its topics never had belongs to others: a copy, or topics made anew. */
async function assertSameLog(context: RestoreContext, next: PerInput): Promise<void> {
  const { partition, log, clock, offsetsGraceMs } = context;
  const untilMs = clock.nowMs() + offsetsGraceMs;
  for (const topic of INPUT_TOPICS) {
    // Who has just become the leader may not know all of it yet: asked again for a while.
    let end = await log.endOffset(topic, partition);
    while (end < next[topic]) {
      if (clock.nowMs() >= untilMs) throw anotherLog(context, topic, next[topic], end);
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
      `at ${end}: it is the journal of another cluster, or the topic was made anew. Give the gate the ` +
      "topics that belong together, or begin with an empty journal under another prefix",
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

function assertNothingYoungIsGone(
  context: RestoreContext,
  previousAtMs: number,
  start: number,
): void {
  if (context.clock.nowMs() - previousAtMs < context.spanMs) throw outOfReach(context, start);
}

function outOfReach(context: RestoreContext, start: number): FatalError {
  const { partition, spanMs } = context;
  return new FatalError(
    "journal_out_of_reach",
    `the journal of partition ${partition} starts at offset ${start} and what came before is needed: ` +
      `records younger than ${spanMs} ms were deleted. Restore the journal from a backup, or move the ` +
      "log away to start with an empty one; raise the journal's retention before going on",
    { context: { partition, start } },
  );
}

function broken(error: unknown): unknown {
  if (!(error instanceof StateCorruptError)) return error;
  return new FatalError(
    "journal_broken",
    `the journal cannot be replayed: ${error.message}. Nothing is decided on it; restore it from a ` +
      "backup, or start this version of the gate with an empty log",
    { cause: error, context: error instanceof PipelineError ? error.context : {} },
  );
}
