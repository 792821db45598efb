/**
 * How the bytes of a record say which schema wrote them: a prefix of fixed length before the Avro
 * body. Single-object encoding is one framing; the Confluent wire format (a zero byte and a
 * four-byte id) is another of the same shape.
 */
export type Framing = {
  /** Says in a message what the first bytes should be. */
  readonly expected: string;
  readonly prefixLength: number;
  /** Whether the bytes claim to have this framing; their schema may still be unknown. */
  readonly matches: (bytes: Buffer) => boolean;
};

const MARKER_FIRST = 0xc3;
const MARKER_SECOND = 0x01;
const MARKER_LENGTH = 2;
const FINGERPRINT_LENGTH = 8;

/** Avro single-object encoding: c3 01, then the CRC-64-AVRO fingerprint of the schema. */
export const SINGLE_OBJECT: Framing = {
  expected: "Avro single-object encoding (first bytes c3 01)",
  prefixLength: MARKER_LENGTH + FINGERPRINT_LENGTH,
  matches: (bytes) => bytes[0] === MARKER_FIRST && bytes[1] === MARKER_SECOND,
};

const OPEN_BRACE = 0x7b;

/** Whether bytes claim to be a JSON object, which needs no framing. */
export function looksLikeJson(bytes: Uint8Array): boolean {
  return bytes[0] === OPEN_BRACE;
}

const WIRE_MARKER = 0x00;
const WIRE_ID_AT = 1;
const WIRE_ID_MAX = 0x7fff_ffff;

/**
 * Confluent wire format: a zero byte, then the id that the registry gave the schema, high byte
 * first.
 */
export const WIRE_FORMAT: Framing = {
  expected: "the wire format of a schema registry (first byte 00)",
  prefixLength: 5,
  matches: (bytes) => bytes[0] === WIRE_MARKER,
};

/**
 * The id in the prefix of a record in the wire format; undefined: the record has another format or
 * is cut short.
 */
export function wireId(bytes: Uint8Array): number | undefined {
  if (bytes[0] !== WIRE_MARKER || bytes.length < WIRE_FORMAT.prefixLength) return undefined;
  const [, first = 0, second = 0, third = 0, fourth = 0] = bytes;
  return first * 2 ** 24 + (second << 16) + (third << 8) + fourth;
}

/**
 * The prefix of records written with the schema of this id.
 *
 * @throws RangeError where the id does not fit into the format.
 */
export function wirePrefix(id: number): Buffer {
  if (!Number.isInteger(id) || id < 0 || id > WIRE_ID_MAX) {
    throw new RangeError(`schema id ${id} does not fit into 31 bits`);
  }
  const prefix = Buffer.alloc(WIRE_FORMAT.prefixLength);
  prefix.writeInt32BE(id, WIRE_ID_AT);
  return prefix;
}

/** The prefix of records written with the schema of this fingerprint. */
export function singleObjectPrefix(fingerprint: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([MARKER_FIRST, MARKER_SECOND]), fingerprint]);
}
