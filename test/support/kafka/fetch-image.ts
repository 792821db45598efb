// Builds a broker's answer to a fetch, batch by batch.
import { crc32c } from "@node-rs/crc32";
import { measureBatch, writeBatch } from "../../../services/adapters/kafka/records/encode-batch.ts";
import type {
  AbortedTransaction,
  FetchedPartition,
} from "../../../services/adapters/kafka/records/fetch-request.ts";

export const APPEND_TIME = 8;
export const TRANSACTIONAL = 16;
export const CONTROL = 32;

const CRC_AT = 17;
const CRC_FROM = 21;

export type BatchSpec = {
  readonly baseOffset: number;
  /** One record for each; null values are kept. */
  readonly values: readonly (string | null)[];
  readonly producerId?: number;
  readonly attributes?: number;
  /** The end of the batch, if not its last record. */
  readonly lastOffset?: number;
  readonly appendTimeMs?: number;
};

export function batchBytes(spec: BatchSpec): Buffer {
  const measured = measureBatch(spec.values.map((value) => ({ key: "k", value })));
  const bytes = Buffer.alloc(measured.bytes);
  writeBatch(bytes, 0, measured, {
    transactional: false,
    producerId: BigInt(spec.producerId ?? -1),
    producerEpoch: 0,
    firstSequence: 0,
    timestampMs: spec.appendTimeMs ?? 1_000,
  });
  return sealed(bytes, spec);
}

/** The marker that ends a transaction. */
export function markerBytes(baseOffset: number, producerId: number, isCommit: boolean): Buffer {
  const measured = measureBatch([
    { key: Buffer.from([0, 0, 0, isCommit ? 1 : 0]), value: Buffer.alloc(6) },
  ]);
  const bytes = Buffer.alloc(measured.bytes);
  writeBatch(bytes, 0, measured, {
    transactional: true,
    producerId: BigInt(producerId),
    producerEpoch: 0,
    firstSequence: -1,
    timestampMs: 1_000,
  });
  return sealed(bytes, {
    baseOffset,
    values: [],
    attributes: TRANSACTIONAL | CONTROL,
    lastOffset: baseOffset,
  });
}

function sealed(bytes: Buffer, spec: BatchSpec): Buffer {
  const lastOffset = spec.lastOffset ?? spec.baseOffset + spec.values.length - 1;
  bytes.writeBigInt64BE(BigInt(spec.baseOffset), 0);
  bytes.writeInt16BE(spec.attributes ?? APPEND_TIME, CRC_FROM);
  bytes.writeInt32BE(lastOffset - spec.baseOffset, 23);
  bytes.writeUInt32BE(crc32c(bytes.subarray(CRC_FROM)), CRC_AT);
  return bytes;
}

export function fetchedOf(
  batches: readonly Buffer[],
  aborted: readonly AbortedTransaction[] = [],
  stableOffset = Number.MAX_SAFE_INTEGER,
): FetchedPartition {
  const payload = Buffer.concat(batches);
  return {
    topic: "calls",
    partition: 0,
    errorCode: 0,
    stableOffset,
    aborted,
    payload,
    from: 0,
    to: payload.length,
  };
}
