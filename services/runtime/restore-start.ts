/**
 * Finds where a replay begins: at a state store or a checkpoint that fits the journal, or at the
 * journal's start.
 */
import { findForeign, isOfJournal, useCheckpoint } from "./checkpoint.ts";
import { FatalError } from "./errors.ts";
import { type ColdMemory, PartitionState } from "./partition-state.ts";
import type { CheckpointStore } from "./ports.ts";
import type { LocalStates, ReadContext, Start, StoredMark } from "./restore-context.ts";
import { coldOf, resumeState } from "./resume-state.ts";
import type { StoreLook } from "./state-store.ts";
import { JOURNAL_TOPIC } from "./topics.ts";

type Loaded = Awaited<ReturnType<CheckpointStore["load"]>>;

/**
 * Null where there is no checkpoint that can be used.
 * @param reportedSeq see `RestoreContext`.
 */
export async function startFrom(
  context: ReadContext,
  source: "store" | "checkpoint" | "journal",
  journalEnd: number,
  reportedSeq: number | null,
): Promise<Start | null> {
  const { log, partition, fold } = context;
  const journalStart = await log.startOffset(JOURNAL_TOPIC, partition);
  const journal = { journalStart, journalEnd };
  if (source === "store") return fromStore(context, journal, reportedSeq);
  if (source === "checkpoint") return fromCheckpoint(context, journal, reportedSeq);
  if (journalStart > 0 && journalStart >= journalEnd) throw outOfReach(context, journalStart);
  const stored = storedWithout(await loadCheckpoint(context));
  const state = new PartitionState(fold, await emptyStore(context));
  return { state, hashesFromSeq: 0, stored, inStoreSeq: 0 };
}

type Bounds = { readonly journalStart: number; readonly journalEnd: number };

async function fromStore(
  context: ReadContext,
  journal: Bounds,
  reportedSeq: number | null,
): Promise<Start | null> {
  const { states, partition, log, codec } = context;
  if (states === null) return null;
  const { summary, problem } = lookAtStore(context, states);
  if (summary === null && problem === null) return null;
  const foreign =
    summary === null
      ? problem
      : await findForeign(summary.header, { log, codec, partition, ...journal });
  if (summary === null || foreign !== null) {
    reportIgnored(context, "state_stores_ignored", "the state store was ignored", foreign ?? "");
    return null;
  }
  const { seq } = summary.header;
  if (reportedSeq !== null && seq > reportedSeq) return null;
  const resumed = await resumeState(context, states, summary);
  if (resumed === null) return null;
  const stored = await storedBeside(context, seq, journal);
  const { state, newestSeq } = resumed;
  return { state, hashesFromSeq: newestSeq, stored, inStoreSeq: seq };
}

function lookAtStore({ partition }: ReadContext, { store }: LocalStates): StoreLook {
  try {
    return store.look(partition);
  } catch (error) {
    return { summary: null, problem: textOf(error) };
  }
}

/** What the checkpoint store has, where the state was built from another one. */
async function storedBeside(
  context: ReadContext,
  baseSeq: number,
  journal: Bounds,
): Promise<StoredMark> {
  const { checkpoints, log, codec, partition } = context;
  if (checkpoints === null) return { mark: null, hasAnswered: false, header: null };
  try {
    const { mark, header } = (await checkpoints.look?.(partition)) ?? { mark: null, header: null };
    // What differs from a checkpoint that was made later has changed since, and will be saved.
    const isLater = header !== null && header.seq >= baseSeq;
    const fits = isLater && (await isOfJournal(header, { log, codec, partition, ...journal }));
    return { mark, hasAnswered: true, header: fits ? { seq: header.seq } : null };
  } catch (error) {
    reportNoAnswer(context, error);
    return { mark: null, hasAnswered: false, header: null };
  }
}

function storedWithout(loaded: Loaded | null): StoredMark {
  return { mark: loaded?.mark ?? null, hasAnswered: loaded !== null, header: null };
}

/** The memory of a state that is built anew: what the store has is of another one. */
async function emptyStore(context: ReadContext): Promise<ColdMemory | null> {
  const { states, partition } = context;
  if (states === null) return null;
  try {
    await states.store.clear(partition);
    return coldOf(context, states);
  } catch (error) {
    const text = "the state store cannot be used: all conversations stay in memory";
    context.logger.warn(text, { partition, problem: textOf(error) });
    return null;
  }
}

async function fromCheckpoint(
  context: ReadContext,
  journal: Bounds,
  reportedSeq: number | null,
): Promise<Start | null> {
  const { log, codec, partition, fold, clock } = context;
  const loaded = await loadCheckpoint(context);
  if (loaded === null) return null;
  if (reportedSeq !== null && (loaded.checkpoint?.header.seq ?? 0) > reportedSeq) return null;
  const checkpointContext = { log, codec, partition, fold, clock, ...journal };
  const use =
    loaded.checkpoint === null
      ? { ok: false as const, why: loaded.problem }
      : await useCheckpoint(loaded.checkpoint, checkpointContext, () => emptyStore(context));
  if (use.ok) {
    const { state, newestSeq } = use;
    const stored = { mark: loaded.mark, hasAnswered: true, header: { seq: state.progress.seq } };
    return { state, hashesFromSeq: newestSeq, stored, inStoreSeq: 0 };
  }
  const text = "a checkpoint was ignored: its partition's owner replaces it";
  if (use.why !== null) reportIgnored(context, "checkpoints_ignored", text, use.why);
  return null;
}

function reportIgnored(
  { metrics, logger, partition }: ReadContext,
  metric: "state_stores_ignored" | "checkpoints_ignored",
  text: string,
  problem: string,
): void {
  metrics.count(metric);
  logger.warn(text, { partition, problem });
}

async function loadCheckpoint(context: ReadContext): Promise<Loaded | null> {
  if (context.checkpoints === null) return null;
  try {
    return await context.checkpoints.load(context.partition);
  } catch (error) {
    // A checkpoint only saves time: without the store the journal is read from its start.
    reportNoAnswer(context, error);
    return null;
  }
}

function reportNoAnswer({ logger, partition }: ReadContext, error: unknown): void {
  logger.warn("the checkpoint store did not answer", { partition, problem: textOf(error) });
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function assertRetentionIntact(
  context: ReadContext,
  previousAtMs: number,
  start: number,
): void {
  if (context.clock.nowMs() - previousAtMs < context.spanMs) throw outOfReach(context, start);
}

function outOfReach(context: ReadContext, start: number): FatalError {
  const { partition, spanMs } = context;
  return new FatalError(
    "journal_out_of_reach",
    `the journal of partition ${partition} starts at offset ${start} and what came before is needed: ` +
      `records younger than ${spanMs} ms were deleted. Raise the journal's retention; then, on a ` +
      "cluster, start with another topic prefix; restore an embedded log from a backup, or move it away to start " +
      "with an empty one",
    { context: { partition, start } },
  );
}
