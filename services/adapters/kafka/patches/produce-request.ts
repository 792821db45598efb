/**
 * Defect: kafkajs allocates an encoder with a buffer for each record, each header and each level
 * above them, and copies everything several times. A record costs 26 to 39 µs, which limits how
 * much a process can write.
 * Upstream: not reported.
 * Patch: The same request is encoded into one buffer (records/encode-batch.ts). It supports what
 * the adapter uses: uncompressed records without times of their own.
 */
import { FatalError } from "../../../runtime/errors.ts";
import {
  type BatchRecord,
  type BatchSettings,
  type MeasuredBatch,
  measureBatch,
  writeBatch,
} from "../records/encode-batch.ts";
import { FRONT_BYTES } from "./assemble-request.ts";

const PRODUCE = 0;

type PartitionData = {
  readonly partition: number;
  readonly firstSequence?: number;
  readonly messages: readonly BatchRecord[];
};

type ProduceInput = {
  readonly acks: number;
  readonly timeout: number;
  readonly transactionalId?: string | null;
  /** A number, a decimal string, or kafkajs' own 64-bit number. */
  readonly producerId?: { toString(): string };
  readonly producerEpoch?: number;
  readonly compression?: number;
  readonly topicData: readonly {
    readonly topic: string;
    readonly partitions: readonly PartitionData[];
  }[];
};

type MeasuredPartition = PartitionData & { readonly batch: MeasuredBatch };

export function createProduceRequest(input: ProduceInput): unknown {
  return {
    apiKey: PRODUCE,
    apiVersion: 3,
    apiName: "Produce",
    expectResponse: () => input.acks !== 0,
    encode: async () => {
      const whole = encode(input);
      const buffer = whole.subarray(FRONT_BYTES);
      // The fields of a kafkajs encoder, and the larger buffer with room for the header.
      return { buf: buffer, buffer, whole };
    },
  };
}

function encode(input: ProduceInput): Buffer {
  if ((input.compression ?? 0) !== 0) {
    throw new FatalError("unexpected", "records are written without compression");
  }
  const { transactionalId = null, producerId = -1n, producerEpoch = 0 } = input;
  const settings = {
    transactional: transactionalId !== null && transactionalId !== "",
    producerId: BigInt(producerId.toString()),
    producerEpoch,
    timestampMs: Date.now(),
  };
  const topics = input.topicData.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map((one) => ({ ...one, batch: measureBatch(one.messages) })),
  }));
  const into = Buffer.allocUnsafe(FRONT_BYTES + requestSize(transactionalId, topics));
  let at = writeString(into, FRONT_BYTES, transactionalId);
  at = into.writeInt16BE(input.acks, at);
  at = into.writeInt32BE(input.timeout, at);
  at = into.writeInt32BE(topics.length, at);
  for (const { topic, partitions } of topics) {
    at = writeString(into, at, topic);
    at = into.writeInt32BE(partitions.length, at);
    for (const one of partitions) at = writePartition(into, at, one, settings);
  }
  return into;
}

function writePartition(
  into: Buffer,
  at: number,
  data: MeasuredPartition,
  settings: Omit<BatchSettings, "firstSequence">,
): number {
  into.writeInt32BE(data.partition, at);
  into.writeInt32BE(data.batch.bytes, at + 4);
  const firstSequence = data.firstSequence ?? 0;
  return writeBatch(into, at + 8, data.batch, { ...settings, firstSequence });
}

function requestSize(
  transactionalId: string | null,
  topics: readonly {
    readonly topic: string;
    readonly partitions: readonly MeasuredPartition[];
  }[],
): number {
  let size = 2 + Buffer.byteLength(transactionalId ?? "") + 2 + 4 + 4;
  for (const { topic, partitions } of topics) {
    size += 2 + Buffer.byteLength(topic) + 4;
    for (const { batch } of partitions) size += 8 + batch.bytes;
  }
  return size;
}

function writeString(into: Buffer, at: number, text: string | null): number {
  if (text === null) return into.writeInt16BE(-1, at);
  const size = Buffer.byteLength(text);
  into.writeInt16BE(size, at);
  into.write(text, at + 2, "utf8");
  return at + 2 + size;
}
