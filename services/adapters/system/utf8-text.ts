/** Decodes files of people as strict UTF-8, since no rule would match a replacement character. */
import { decodeUtf8, firstInvalidByte } from "../../core/canonical/utf8.ts";

const LINE_FEED = 0x0a;

/** The bytes of a text are not UTF-8. */
export class NotUtf8Error extends Error {
  /** Line of the first invalid byte, from 1. */
  readonly line: number;

  constructor(bytes: Uint8Array) {
    const at = firstInvalidByte(bytes);
    const line = bytes.subarray(0, at).filter((byte) => byte === LINE_FEED).length + 1;
    const byte = (bytes[at] ?? 0).toString(16).toUpperCase().padStart(2, "0");
    super(`line ${line} is not UTF-8 (byte 0x${byte}); save the file as UTF-8`);
    this.line = line;
  }
}

/** @throws NotUtf8Error */
export function utf8Text(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw new NotUtf8Error(bytes);
  return text;
}
