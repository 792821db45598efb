// Answers that a proxy can give in place of a broker: the bytes after the correlation id.
import { Cursor, int16, int32, int64, list, requestBody, text } from "./wire.ts";

const CORRELATION_BYTES = 4;
/** Of a Fetch answer, after correlation id, throttling, error and session. */
const FETCHED_TOPICS_AT = 14;
/** A producer's id and epoch. */
const PRODUCER_BYTES = 10;
/** Error codes of the protocol. */
export const OFFSET_OUT_OF_RANGE = 1;
export const NOT_LEADER = 6;
export const REQUEST_TIMED_OUT = 7;
export const GROUP_LOAD_IN_PROGRESS = 14;
export const NOT_COORDINATOR = 16;
export const NOT_ENOUGH_REPLICAS = 19;
export const GROUP_AUTHORIZATION_FAILED = 30;
export const CLUSTER_AUTHORIZATION_FAILED = 31;
export const INVALID_REQUEST = 42;
export const CONCURRENT_TRANSACTIONS = 51;
export const TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53;

/** To a Produce request of version 7: an error for every partition in it. */
export function refuseProduce(frame: Buffer, code: number): Buffer {
  const cursor = new Cursor(requestBody(frame));
  cursor.text();
  cursor.int16();
  cursor.int32();
  const topics = cursor.list(() => {
    const topic = cursor.text();
    const partitions = cursor.list(() => {
      const partition = cursor.int32();
      const size = cursor.int32();
      cursor.at += size;
      const offsets = [int64(-1), int64(-1), int64(-1)];
      return Buffer.concat([int32(partition), int16(code), ...offsets]);
    });
    return Buffer.concat([text(topic), list(partitions)]);
  });
  return Buffer.concat([list(topics), int32(0)]);
}

/** The answer to a Produce request of version 7 with an error for the first partition in it. */
export function failFirst(answer: Buffer, code: number): Buffer {
  const bytes = Buffer.from(answer);
  const cursor = new Cursor(bytes, CORRELATION_BYTES);
  cursor.int32();
  cursor.text();
  cursor.int32();
  cursor.int32();
  bytes.writeInt16BE(code, cursor.at);
  return bytes;
}

/** To an InitProducerId request of version 1. */
export function refuseProducerId(code: number): Buffer {
  return Buffer.concat([int32(0), int16(code), int64(-1), int16(-1)]);
}

/** To a FindCoordinator request of version 1 or 2: nobody is named. */
export function refuseCoordinator(code: number): Buffer {
  return Buffer.concat([int32(0), int16(code), text(null), int32(-1), text(""), int32(-1)]);
}

/** To an AddOffsetsToTxn or an EndTxn request of version 0 or 1. */
export function refuseStep(code: number): Buffer {
  return Buffer.concat([int32(0), int16(code)]);
}

/** To an AddPartitionsToTxn request of version 0 or 1: an error for every partition in it. */
export function refusePartitions(frame: Buffer, code: number): Buffer {
  const cursor = new Cursor(requestBody(frame));
  cursor.text();
  cursor.at += PRODUCER_BYTES;
  const topics = cursor.list(() => {
    const topic = cursor.text();
    const partitions = cursor.list(() => Buffer.concat([int32(cursor.int32()), int16(code)]));
    return Buffer.concat([text(topic), list(partitions)]);
  });
  return Buffer.concat([int32(0), list(topics)]);
}

/** To a Fetch request of version 11 for partition 0 of a topic: it is empty. */
export function emptyFetch(topic: string): Buffer {
  const offsets = [int64(0), int64(0), int64(0)];
  const partition = Buffer.concat([
    ...[int32(0), int16(0), ...offsets],
    ...[list([]), int32(-1), int32(0)],
  ]);
  return Buffer.concat([
    ...[int32(0), int16(0), int32(0)],
    list([Buffer.concat([text(topic), list([partition])])]),
  ]);
}

/** A ListOffsets answer about one partition: its last field is the offset. */
export function endingAtStart(answer: Buffer): Buffer {
  const bytes = Buffer.from(answer);
  bytes.writeBigInt64BE(0n, bytes.length - 8);
  return bytes;
}

/** The first partition of a Fetch answer of version 11, with an error. */
export function withError(code: number): (answer: Buffer) => Buffer {
  return (answer) => {
    const bytes = Buffer.from(answer);
    const cursor = new Cursor(bytes, FETCHED_TOPICS_AT);
    if (cursor.int32() === 0) return bytes;
    cursor.text();
    cursor.int32();
    cursor.int32();
    bytes.writeInt16BE(code, cursor.at);
    return bytes;
  };
}
