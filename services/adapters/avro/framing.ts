/**
 * How the bytes of a record say which schema they were written with: a prefix of fixed length before
 * the Avro body. Single-object encoding is one; the Confluent wire format (a zero and a four-byte
 * id) is another of the same shape.
 */
export type Framing = {
  /** Says in a message what the first bytes should be. */
  readonly expected: string;
  readonly prefixLength: number;
  /** Whether the bytes claim to be framed so; their schema may still be unknown. */
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

/** The prefix of records written with the schema of this fingerprint. */
export function singleObjectPrefix(fingerprint: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([MARKER_FIRST, MARKER_SECOND]), fingerprint]);
}
