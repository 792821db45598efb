/**
 * Finds where a replay begins: at a checkpoint that fits the journal, or at the journal's start.
 */
import { useCheckpoint } from "./checkpoint.ts";
import { FatalError } from "./errors.ts";
import { PartitionState } from "./partition-state.ts";
import type { CheckpointStore } from "./ports.ts";
import type { ReadContext, Start, StoredMark } from "./restore-context.ts";
import { JOURNAL_TOPIC } from "./topics.ts";

type Loaded = Awaited<ReturnType<CheckpointStore["load"]>>;

/**
 * Null where there is no checkpoint that can be used.
 * @param reportedSeq see `RestoreContext`.
 */
export async function startFrom(
  context: ReadContext,
  source: "checkpoint" | "journal",
  journalEnd: number,
  reportedSeq: number | null,
): Promise<Start | null> {
  const { log, partition, fold } = context;
  const journalStart = await log.startOffset(JOURNAL_TOPIC, partition);
  if (source === "checkpoint")
    return fromCheckpoint(context, { journalStart, journalEnd }, reportedSeq);
  if (journalStart > 0 && journalStart >= journalEnd) throw outOfReach(context, journalStart);
  const stored = storedWithout(await loadCheckpoint(context));
  return { state: new PartitionState(fold), hashesFromSeq: 0, stored };
}

function storedWithout(loaded: Loaded | null): StoredMark {
  return { mark: loaded?.mark ?? null, hasAnswered: loaded !== null, header: null };
}

async function fromCheckpoint(
  context: ReadContext,
  journal: { readonly journalStart: number; readonly journalEnd: number },
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
      : await useCheckpoint(loaded.checkpoint, checkpointContext);
  if (use.ok) {
    const { state, newestSeq } = use;
    const stored = { mark: loaded.mark, hasAnswered: true, header: { seq: state.progress.seq } };
    return { state, hashesFromSeq: newestSeq, stored };
  }
  if (use.why !== null) {
    context.metrics.count("checkpoints_ignored");
    context.logger.warn("a checkpoint was ignored: its partition's owner replaces it", {
      partition,
      problem: use.why,
    });
  }
  return null;
}

async function loadCheckpoint(context: ReadContext): Promise<Loaded | null> {
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
