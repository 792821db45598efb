// The parts of Kafka's protocol that a proxy needs: frames, and the positions of addresses.

export const APIS = {
  Produce: 0,
  Fetch: 1,
  ListOffsets: 2,
  Metadata: 3,
  OffsetCommit: 8,
  OffsetFetch: 9,
  FindCoordinator: 10,
  JoinGroup: 11,
  Heartbeat: 12,
  LeaveGroup: 13,
  SyncGroup: 14,
  ApiVersions: 18,
  InitProducerId: 22,
  AddPartitionsToTxn: 24,
  AddOffsetsToTxn: 25,
  EndTxn: 26,
  TxnOffsetCommit: 28,
} as const;

export type Api = keyof typeof APIS;

const NAMES = new Map<number, Api>(
  Object.entries(APIS).map(([name, key]) => [key, name as Api] as const),
);

const SIZE_BYTES = 4;

/** Cuts a stream of bytes into frames, without their sizes. */
export class Frames {
  #rest: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): readonly Buffer[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Buffer[] = [];
    while (this.#rest.length >= SIZE_BYTES) {
      const end = SIZE_BYTES + this.#rest.readInt32BE(0);
      if (this.#rest.length < end) break;
      frames.push(this.#rest.subarray(SIZE_BYTES, end));
      this.#rest = this.#rest.subarray(end);
    }
    return frames;
  }
}

export function framed(frame: Buffer): Buffer {
  const size = Buffer.alloc(SIZE_BYTES);
  size.writeInt32BE(frame.length, 0);
  return Buffer.concat([size, frame]);
}

export type RequestHead = {
  readonly api: Api | undefined;
  readonly version: number;
  readonly correlationId: number;
};

export function requestHead(frame: Buffer): RequestHead {
  return {
    api: NAMES.get(frame.readInt16BE(0)),
    version: frame.readInt16BE(2),
    correlationId: frame.readInt32BE(4),
  };
}

/** The body of a request whose head has no tagged fields. */
export function requestBody(frame: Buffer): Buffer {
  return frame.subarray(10 + Math.max(frame.readInt16BE(8), 0));
}

/** Reads and writes the fixed-size encodings of the older requests. */
export class Cursor {
  at: number;
  readonly bytes: Buffer;

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  int8(): number {
    this.at += 1;
    return this.bytes.readInt8(this.at - 1);
  }

  int16(): number {
    this.at += 2;
    return this.bytes.readInt16BE(this.at - 2);
  }

  int32(): number {
    this.at += 4;
    return this.bytes.readInt32BE(this.at - 4);
  }

  text(): string | null {
    const size = this.int16();
    if (size < 0) return null;
    this.at += size;
    return this.bytes.toString("utf8", this.at - size, this.at);
  }

  list<T>(readOne: () => T): T[] {
    return Array.from({ length: Math.max(this.int32(), 0) }, readOne);
  }

  /**
   * Skips a text of the compact encodings. Two statements, since `at +=` would read `at` before the
   * length.
   */
  compactText(): void {
    const size = this.varint() - 1;
    this.at += Math.max(size, 0);
  }

  /** A number of the compact encodings. */
  varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes.readUInt8(this.at);
      this.at += 1;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }
}

export function int8(value: number): Buffer {
  return Buffer.from([value]);
}

export function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value, 0);
  return bytes;
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value, 0);
  return bytes;
}

export function int64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value), 0);
  return bytes;
}

export function text(value: string | null): Buffer {
  if (value === null) return int16(-1);
  return Buffer.concat([int16(Buffer.byteLength(value)), Buffer.from(value)]);
}

export function list(items: readonly Buffer[]): Buffer {
  return Buffer.concat([int32(items.length), ...items]);
}
