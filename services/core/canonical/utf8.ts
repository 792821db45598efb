/** Strict UTF-8. A lenient decoder would silently repair invalid bytes. */

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

// Declared here because the core is compiled without the names of any platform; every platform has
// this one.
declare const TextDecoder: new (
  label: "utf-8",
  options: { fatal: true; ignoreBOM: true },
) => { decode(bytes: Uint8Array): string };

/** `ignoreBOM` leaves a byte order mark in the text, where the grammar refuses it. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of the bytes, or undefined where they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Offset of the first sequence that is not UTF-8 (RFC 3629, no surrogates), or the length where there is none. */
export function firstInvalidByte(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at);
    if (length === 0) return at;
    at += length;
  }
  return at;
}

/** Lead bytes from..to, how many bytes follow, and the range of the first of them (Unicode, table 3-7). */
const SEQUENCES: readonly (readonly [number, number, number, number, number])[] = [
  [0x00, 0x7f, 0, 0x00, 0x00],
  [0xc2, 0xdf, 1, 0x80, 0xbf],
  [0xe0, 0xe0, 2, 0xa0, 0xbf],
  [0xe1, 0xec, 2, 0x80, 0xbf],
  [0xed, 0xed, 2, 0x80, 0x9f],
  [0xee, 0xef, 2, 0x80, 0xbf],
  [0xf0, 0xf0, 3, 0x90, 0xbf],
  [0xf1, 0xf3, 3, 0x80, 0xbf],
  [0xf4, 0xf4, 3, 0x80, 0x8f],
];

/** Bytes of the sequence that starts here, 0 where none does. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] as number;
  const row = SEQUENCES.find(([from, to]) => lead >= from && lead <= to);
  if (row === undefined) return 0;
  const [, , following, least, greatest] = row;
  for (let next = 1; next <= following; next += 1) {
    const byte = bytes[at + next] ?? 0;
    const isIn = next === 1 ? byte >= least && byte <= greatest : byte >= 0x80 && byte <= 0xbf;
    if (!isIn) return 0;
  }
  return following + 1;
}

/** Size of a well-formed text in UTF-8 bytes, counted up to its first `units` code units. */
export function utf8Length(text: string, units = text.length): number {
  let bytes = units;
  for (let at = 0; at < units; at += 1) {
    const unit = charCodeAt.call(text, at);
    // A surrogate pair is four bytes, two for each of its units.
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}
