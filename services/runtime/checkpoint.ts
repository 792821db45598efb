/**
 * Converts a partition's committed state to a checkpoint and back.
 *
 * CHECKPOINT-1 a checkpoint holds committed state only. A finished save has taken all of it at the
 *    header's record. An interrupted one leaves the earlier header with some newer blobs; none is
 *    older than the header says, so a replay from the header's record makes the state whole.
 * CHECKPOINT-2 whoever loads one trusts nothing in it: identity, digests, count, and its position
 *    in the journal's chain are checked, and it is used as a whole or not at all.
 */
import { chainHash } from "../core/hash.ts";
import { blobDigest } from "./blob-digest.ts";
import { addDigests, ZERO_DIGEST } from "./digest-sum.ts";
import type { StateFold } from "./engine.ts";
import { type ColdMemory, PartitionState } from "./partition-state.ts";
import type { Checkpoint, CheckpointBlob, CheckpointHeader, Clock, Codec, Log } from "./ports.ts";
import { exchangeHash, NO_SUM } from "./state-hash.ts";
import { type Conversation, conversationBytes, StoredConversation } from "./stored-conversation.ts";
import { JOURNAL_TOPIC } from "./topics.ts";

/**
 * Raise it with every change of what a blob or header means: the gate ignores checkpoints of older
 * versions.
 */
export const CHECKPOINT_SCHEMA_VERSION = 22;

/**
 * Longest work without a pause: other partitions have decisions to make, and requests are under
 * way.
 */
const SLICE_MS = 8;
/** How many conversations are handled between two looks at the clock. */
const SLICE_BLOBS = 64;

export function headerOf(log: Log, state: PartitionState): CheckpointHeader {
  const { seq, chainHead, next, ahead, clocks, latestMs, anchor } = state.progress;
  return {
    clusterId: log.clusterId,
    topicId: log.topicId(JOURNAL_TOPIC),
    schemaVersion: CHECKPOINT_SCHEMA_VERSION,
    journalOffset: state.journalOffset,
    journalTimeMs: state.journalTimeMs,
    seq,
    chainHead,
    next,
    ahead,
    clocks,
    latestMs,
    anchor,
  };
}

export function blobOf(key: string, conversation: Conversation, fold: StateFold): CheckpointBlob {
  const { seq, hash } = conversation;
  const bytes = conversationBytes(conversation, fold);
  return { key, seq, hash, digest: blobDigest(key, seq, hash, bytes), bytes };
}

export type CheckpointUse =
  | { readonly ok: true; readonly state: PartitionState; readonly newestSeq: number }
  | { readonly ok: false; readonly why: string };

export type CheckpointContext = {
  readonly log: Log;
  readonly codec: Codec;
  readonly partition: number;
  readonly fold: StateFold;
  readonly clock: Clock;
  readonly journalStart: number;
  readonly journalEnd: number;
};

/** Whether a checkpoint belongs to this log and to the history that its journal has. */
export async function isOfJournal(
  header: CheckpointHeader,
  context: Omit<CheckpointContext, "fold" | "clock">,
): Promise<boolean> {
  return (await findForeign(header, context)) === null;
}

/**
 * The state that a checkpoint holds, or the reason why it cannot be used.
 * @param cold called once the checkpoint is known to be whole.
 */
export async function useCheckpoint(
  checkpoint: Checkpoint,
  context: CheckpointContext,
  cold: () => Promise<ColdMemory | null>,
): Promise<CheckpointUse> {
  const problem = await findForeign(checkpoint.header, context);
  if (problem !== null) return { ok: false, why: problem };
  try {
    return await stateFrom(checkpoint, context, cold);
  } catch (error) {
    return { ok: false, why: error instanceof Error ? error.message : "it cannot be read" };
  }
}

/** Why a checkpoint cannot be of this journal; null: it is. */
export async function findForeign(
  header: CheckpointHeader,
  context: Omit<CheckpointContext, "fold" | "clock">,
): Promise<string | null> {
  const { log, journalStart, journalEnd } = context;
  if (header.schemaVersion !== CHECKPOINT_SCHEMA_VERSION) return "it has another format";
  if (header.clusterId !== log.clusterId || header.topicId !== log.topicId(JOURNAL_TOPIC)) {
    return "it is of another log";
  }
  if (header.journalOffset > journalEnd) return "it is newer than the journal";
  if (header.journalOffset - 1 < journalStart) return "it is older than the journal";
  return (await standsInChain(header, context)) ? null : "it is of another history of the journal";
}

/** Whether the journal has the record that a checkpoint or a head was taken at. */
export async function standsInChain(
  header: Pick<CheckpointHeader, "journalOffset" | "seq" | "chainHead">,
  context: Pick<CheckpointContext, "log" | "codec" | "partition">,
): Promise<boolean> {
  const { log, codec, partition } = context;
  const offset = header.journalOffset - 1;
  const limits = { recordsMax: 1, bytesMax: 1 };
  const { records } = await log.read(JOURNAL_TOPIC, partition, offset, limits);
  const last = records[0];
  if (last === undefined || last.offset !== offset || last.value === null) return false;
  await codec.pending?.(last.value);
  const record = codec.decodeJournal(last.value);
  return record.seq === header.seq && chainHash(record.prevHash, last.value) === header.chainHead;
}

/**
 * Compares the digests of all conversations before it uses any; their texts are parsed when they
 * are first needed.
 */
async function stateFrom(
  checkpoint: Checkpoint,
  context: CheckpointContext,
  cold: () => Promise<ColdMemory | null>,
): Promise<CheckpointUse> {
  const { header, blobs } = checkpoint;
  const { fold, clock } = context;
  if (checkpoint.count !== blobs.length) {
    return { ok: false, why: "conversations are missing" };
  }
  const conversations = new Map<string, Conversation>();
  let newestSeq = 0;
  let stateSum = NO_SUM;
  let sum = ZERO_DIGEST;
  let sliceMs = clock.nowMs();
  for (const [at, { key, seq, hash, digest, bytes }] of blobs.entries()) {
    if (blobDigest(key, seq, hash, bytes) !== digest) {
      return { ok: false, why: "it is damaged" };
    }
    sum = addDigests(sum, digest);
    conversations.set(key, new StoredConversation(bytes, { seq, hash }, fold));
    stateSum = exchangeHash(stateSum, "", hash);
    newestSeq = Math.max(newestSeq, seq);
    if (at % SLICE_BLOBS !== 0 || clock.nowMs() - sliceMs < SLICE_MS) continue;
    await clock.sleep(0);
    sliceMs = clock.nowMs();
  }
  if (sum !== checkpoint.digestSum) return { ok: false, why: "it is a mixture of several" };
  const { seq, chainHead, next, ahead, clocks, latestMs, anchor } = header;
  const state = new PartitionState(fold, await cold());
  state.apply({
    progress: { seq, chainHead, next, ahead, clocks, latestMs, stateSum, anchor },
    journalOffset: header.journalOffset,
    journalTimeMs: header.journalTimeMs,
    conversations,
    dropped: new Set(),
    atHashRecord: false,
  });
  state.unsaved.inCheckpoint.take();
  return { ok: true, state, newestSeq };
}
