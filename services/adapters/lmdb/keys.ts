import { TOPICS, type Topic } from "../../runtime/topics.ts";

const TOPIC_NUMBERS = new Map<Topic, number>(TOPICS.map((topic, index) => [topic, index + 1]));
const HIGH = 0x1_0000_0000;

/** Key of a value that each topic-partition has once. */
export function partitionKey(topic: Topic, partition: number): Buffer {
  const key = Buffer.allocUnsafe(3);
  key.writeUInt8(TOPIC_NUMBERS.get(topic) ?? 0, 0);
  key.writeUInt16BE(partition, 1);
  return key;
}

/** Key of the chunk that starts at an offset; keys sort like the offsets. */
export function chunkKey(topic: Topic, partition: number, baseOffset: number): Buffer {
  const key = Buffer.allocUnsafe(11);
  key.writeUInt8(TOPIC_NUMBERS.get(topic) ?? 0, 0);
  key.writeUInt16BE(partition, 1);
  key.writeUInt32BE(Math.floor(baseOffset / HIGH), 3);
  key.writeUInt32BE(baseOffset % HIGH, 7);
  return key;
}

export function baseOffsetOf(key: Uint8Array): number {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.byteLength);
  return bytes.readUInt32BE(3) * HIGH + bytes.readUInt32BE(7);
}

/** Key of a value with a name, for one partition or, without `partition`, for the log. */
export function makeNameKey(name: string, partition?: number): Buffer {
  return Buffer.from(partition === undefined ? name : `${name}/${partition}`, "utf8");
}
