/**
 * From a partition's committed state to a checkpoint and back.
 *
 * C1 a checkpoint holds committed state only; its header is of the record that all of it was taken at.
 * C2 whoever loads one trusts nothing in it: identity, digests, count, and its place in the journal's
 *    chain are checked, and it is used as a whole or not at all.
 */
import { chainHash, sha256Hex } from "../core/hash.ts";
import { addDigests, ZERO_DIGEST } from "./digest-sum.ts";
import type { StateFold } from "./engine.ts";
import { type Conversation, PartitionState } from "./partition-state.ts";
import type { Checkpoint, CheckpointBlob, CheckpointHeader, Codec, Log } from "./ports.ts";
import type { Safeguards } from "./safeguards.ts";
import { exchanged, NO_SUM } from "./state-hash.ts";
import { JOURNAL_TOPIC } from "./topics.ts";

/** Raise it with every change of what a blob or header means: older checkpoints are then ignored. */
export const CHECKPOINT_SCHEMA_VERSION = 6;

const decoder = new TextDecoder();
const encoder = new TextEncoder();

export function headerOf(log: Log, state: PartitionState): CheckpointHeader {
  const { seq, chainHead, next, clocks, latestMs } = state.progress;
  return {
    clusterId: log.clusterId,
    topicId: log.topicId(JOURNAL_TOPIC),
    schemaVersion: CHECKPOINT_SCHEMA_VERSION,
    journalOffset: state.journalOffset,
    journalTimeMs: state.journalTimeMs,
    seq,
    chainHead,
    next,
    clocks,
    latestMs,
  };
}

export function blobOf(key: string, conversation: Conversation, fold: StateFold): CheckpointBlob {
  const { state, seq, hash } = conversation;
  const bytes = encoder.encode(fold.snapshot(state));
  return { key, seq, hash, digest: blobDigest(key, seq, hash, bytes), bytes };
}

function blobDigest(key: string, seq: number, hash: string, bytes: Uint8Array): string {
  return sha256Hex("callgate.checkpoint/1", key, String(seq), hash, bytes);
}

export type CheckpointUse =
  | { readonly ok: true; readonly state: PartitionState; readonly newestSeq: number }
  | { readonly ok: false; readonly why: string };

export type CheckpointPlace = {
  readonly log: Log;
  readonly codec: Codec;
  readonly partition: number;
  readonly fold: StateFold;
  readonly journalStart: number;
  readonly journalEnd: number;
  readonly safeguards: Safeguards;
};

/** The state that a checkpoint holds, or why it cannot be used. */
export async function useCheckpoint(
  checkpoint: Checkpoint,
  place: CheckpointPlace,
): Promise<CheckpointUse> {
  const problem =
    (place.safeguards.checkpointIdentity ? await findForeign(checkpoint.header, place) : null) ??
    (place.safeguards.checkpointDigests ? findDamage(checkpoint) : null);
  if (problem !== null) return { ok: false, why: problem };
  try {
    return stateFrom(checkpoint, place.fold);
  } catch (error) {
    return { ok: false, why: error instanceof Error ? error.message : "it cannot be read" };
  }
}

async function findForeign(
  header: CheckpointHeader,
  place: CheckpointPlace,
): Promise<string | null> {
  const { log, journalStart, journalEnd } = place;
  if (header.schemaVersion !== CHECKPOINT_SCHEMA_VERSION) return "it has another format";
  if (header.clusterId !== log.clusterId || header.topicId !== log.topicId(JOURNAL_TOPIC)) {
    return "it is of another log";
  }
  if (header.journalOffset > journalEnd) return "it is newer than the journal";
  if (header.journalOffset - 1 < journalStart) return "it is older than the journal";
  return (await standsInChain(header, place)) ? null : "it is of another history of the journal";
}

async function standsInChain(header: CheckpointHeader, place: CheckpointPlace): Promise<boolean> {
  const { log, codec, partition } = place;
  const offset = header.journalOffset - 1;
  const limits = { recordsMax: 1, bytesMax: 1 };
  const { records } = await log.read(JOURNAL_TOPIC, partition, offset, limits);
  const last = records[0];
  if (last === undefined || last.offset !== offset || last.value === null) return false;
  await codec.pending?.(last.value);
  const record = codec.decodeJournal(last.value);
  return record.seq === header.seq && chainHash(record.prevHash, last.value) === header.chainHead;
}

function findDamage(checkpoint: Checkpoint): string | null {
  if (checkpoint.count !== checkpoint.blobs.length) return "conversations are missing";
  let sum = ZERO_DIGEST;
  for (const { key, seq, hash, digest, bytes } of checkpoint.blobs) {
    if (blobDigest(key, seq, hash, bytes) !== digest) return "it is damaged";
    sum = addDigests(sum, digest);
  }
  return sum === checkpoint.digestSum ? null : "it is a mixture of several";
}

function stateFrom(checkpoint: Checkpoint, fold: StateFold): CheckpointUse {
  const { header } = checkpoint;
  const conversations = new Map<string, Conversation>();
  let newestSeq = 0;
  let stateSum = NO_SUM;
  for (const { key, seq, hash, bytes } of checkpoint.blobs) {
    conversations.set(key, { state: fold.restore(decoder.decode(bytes)), seq, hash });
    stateSum = exchanged(stateSum, "", hash);
    newestSeq = Math.max(newestSeq, seq);
  }
  const { seq, chainHead, next, clocks, latestMs } = header;
  const state = new PartitionState(fold);
  state.apply({
    progress: { seq, chainHead, next, clocks, latestMs, stateSum },
    journalOffset: header.journalOffset,
    journalTimeMs: header.journalTimeMs,
    conversations,
    dropped: new Set(),
    atHashRecord: false,
  });
  state.takeUnsaved();
  return { ok: true, state, newestSeq };
}
