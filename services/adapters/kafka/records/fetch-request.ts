/** Fetch request, version 11: https://kafka.apache.org/protocol#The_Messages_Fetch */
import type { WireRequest } from "../patches/kafkajs-internals.ts";

const FETCH = 1;
const VERSION = 11;
const READ_UNCOMMITTED = 0;
const READ_COMMITTED = 1;
const NO_SESSION = -1;
const TWO_TO_32 = 4_294_967_296;

export type FetchPosition = {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly bytesMax: number;
};

export type AbortedTransaction = { readonly producerId: number; readonly firstOffset: number };

/** A broker's answer for one topic-partition. The batches are `payload` from `from` to `to`. */
export type FetchedPartition = {
  readonly topic: string;
  readonly partition: number;
  readonly errorCode: number;
  /** The last stable offset: every transaction below it was committed or aborted. */
  readonly stableOffset: number;
  readonly aborted: readonly AbortedTransaction[];
  readonly payload: Buffer;
  readonly from: number;
  readonly to: number;
};

export type FetchSettings = {
  readonly positions: readonly FetchPosition[];
  /** How long the broker may wait for new records. */
  readonly waitMs: number;
  readonly bytesMax: number;
  /** False: also records of open and aborted transactions. Default true. */
  readonly committed?: boolean;
};

export function fetchRequest(settings: FetchSettings): WireRequest<readonly FetchedPartition[]> {
  return {
    apiKey: FETCH,
    apiVersion: VERSION,
    apiName: "Fetch",
    body: encode(settings),
    decode,
    waitMs: settings.waitMs,
  };
}

function encode({ positions, waitMs, bytesMax, committed = true }: FetchSettings): Buffer {
  const byTopic = new Map<string, FetchPosition[]>();
  let size = 4 + 4 + 4 + 4 + 1 + 4 + 4 + 4 + 4 + 2;
  for (const position of positions) {
    const group = byTopic.get(position.topic);
    if (group === undefined) {
      byTopic.set(position.topic, [position]);
      size += 2 + Buffer.byteLength(position.topic) + 4;
    } else {
      group.push(position);
    }
    size += 4 + 4 + 8 + 8 + 4;
  }
  const into = Buffer.allocUnsafe(size);
  let at = into.writeInt32BE(-1, 0);
  at = into.writeInt32BE(waitMs, at);
  at = into.writeInt32BE(1, at);
  at = into.writeInt32BE(bytesMax, at);
  at = into.writeInt8(committed ? READ_COMMITTED : READ_UNCOMMITTED, at);
  at = into.writeInt32BE(0, at);
  at = into.writeInt32BE(NO_SESSION, at);
  at = into.writeInt32BE(byTopic.size, at);
  for (const [topic, group] of byTopic) {
    at = into.writeInt16BE(Buffer.byteLength(topic), at);
    at += into.write(topic, at, "utf8");
    at = into.writeInt32BE(group.length, at);
    for (const position of group) at = writePosition(into, at, position);
  }
  at = into.writeInt32BE(0, at);
  into.writeInt16BE(0, at);
  return into;
}

function writePosition(into: Buffer, start: number, position: FetchPosition): number {
  let at = into.writeInt32BE(position.partition, start);
  at = into.writeInt32BE(-1, at);
  at = into.writeBigInt64BE(BigInt(position.offset), at);
  at = into.writeBigInt64BE(-1n, at);
  return into.writeInt32BE(position.bytesMax, at);
}

function decode(payload: Buffer): readonly FetchedPartition[] {
  const code = payload.readInt16BE(4);
  if (code !== 0) throw Object.assign(new Error(`the broker answered error ${code}`), { code });
  const fetched: FetchedPartition[] = [];
  let at = 4 + 2 + 4;
  const topics = payload.readInt32BE(at);
  at += 4;
  for (let index = 0; index < topics; index += 1) {
    const size = payload.readInt16BE(at);
    const topic = payload.toString("utf8", at + 2, at + 2 + size);
    at += 2 + size;
    const partitions = payload.readInt32BE(at);
    at += 4;
    for (let one = 0; one < partitions; one += 1) {
      const partition = readPartition(payload, at, topic);
      fetched.push(partition);
      at = partition.to;
    }
  }
  return fetched;
}

function readPartition(payload: Buffer, start: number, topic: string): FetchedPartition {
  const partition = payload.readInt32BE(start);
  const errorCode = payload.readInt16BE(start + 4);
  const stableOffset = readOffset(payload, start + 14);
  let at = start + 30;
  const abortedCount = payload.readInt32BE(at);
  at += 4;
  const aborted: AbortedTransaction[] = [];
  for (let index = 0; index < abortedCount; index += 1) {
    aborted.push({
      producerId: readOffset(payload, at),
      firstOffset: readOffset(payload, at + 8),
    });
    at += 16;
  }
  at += 4;
  const size = payload.readInt32BE(at);
  const from = at + 4;
  const to = from + Math.max(size, 0);
  return { topic, partition, errorCode, stableOffset, aborted, payload, from, to };
}

/** Reads a 64-bit integer as a double, which is exact up to 2^53; no offset reaches that. */
export function readOffset(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) * TWO_TO_32 + bytes.readUInt32BE(at + 4);
}
