/**
 * Metadata request, version 10, the first that returns topic ids; kafkajs stops at version 6.
 * https://kafka.apache.org/protocol#The_Messages_Metadata
 */
import type { WireRequest } from "../patches/kafkajs-internals.ts";

const METADATA = 3;
const VERSION = 10;
const UUID_BYTES = 16;

export type DescribedTopic = {
  readonly name: string;
  readonly errorCode: number;
  /** Hex; a topic that is deleted and created again gets another id. */
  readonly topicId: string;
  readonly partitions: number;
};

export type DescribedCluster = {
  readonly clusterId: string;
  readonly brokers: number;
  readonly topics: readonly DescribedTopic[];
};

export function metadataRequest(names: readonly string[]): WireRequest<DescribedCluster> {
  return {
    apiKey: METADATA,
    apiVersion: VERSION,
    apiName: "Metadata",
    body: encode(names),
    decode,
    waitMs: 0,
  };
}

function encode(names: readonly string[]): Buffer {
  const parts: Buffer[] = [NO_TAGS, unsignedVarint(names.length + 1)];
  for (const name of names) {
    const bytes = Buffer.from(name);
    parts.push(Buffer.alloc(UUID_BYTES), unsignedVarint(bytes.length + 1), bytes, NO_TAGS);
  }
  // The request neither creates missing topics nor asks for the permitted operations.
  parts.push(Buffer.from([0, 0, 0]), NO_TAGS);
  return Buffer.concat(parts);
}

const NO_TAGS = Buffer.from([0]);

function unsignedVarint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}

function decode(payload: Buffer): DescribedCluster {
  const reader = new CompactReader(payload);
  reader.skipTags();
  reader.int32();
  const brokers = reader.list(() => {
    reader.int32();
    reader.text();
    reader.int32();
    reader.text();
    reader.skipTags();
  });
  const clusterId = reader.text() ?? "";
  reader.int32();
  const topics = reader.list(() => readTopic(reader));
  return { clusterId, brokers: brokers.length, topics };
}

function readTopic(reader: CompactReader): DescribedTopic {
  const errorCode = reader.int16();
  const name = reader.text() ?? "";
  const topicId = reader.bytes(UUID_BYTES).toString("hex");
  reader.bytes(1);
  const partitions = reader.list(() => {
    reader.int16();
    reader.int32();
    reader.int32();
    reader.int32();
    for (let replicas = 0; replicas < 3; replicas += 1) reader.list(() => reader.int32());
    reader.skipTags();
  });
  reader.int32();
  reader.skipTags();
  return { name, errorCode, topicId, partitions: partitions.length };
}

/** Reads the compact encodings of newer responses. */
class CompactReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int16(): number {
    this.#at += 2;
    return this.#bytes.readInt16BE(this.#at - 2);
  }

  int32(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  bytes(size: number): Buffer {
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }

  text(): string | null {
    const size = this.#varint() - 1;
    return size < 0 ? null : this.bytes(size).toString("utf8");
  }

  list<T>(readOne: () => T): T[] {
    const length = this.#varint() - 1;
    const list: T[] = [];
    for (let index = 0; index < length; index += 1) list.push(readOne());
    return list;
  }

  skipTags(): void {
    const count = this.#varint();
    for (let tag = 0; tag < count; tag += 1) {
      this.#varint();
      this.bytes(this.#varint());
    }
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes.readUInt8(this.#at);
      this.#at += 1;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }
}
