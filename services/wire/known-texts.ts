/** Places for texts: more than the tools, tenants and agents that most gates see in a while. */

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

const PLACES = 4_096;
/** A longer one is read as soon as it is found. */
const LENGTH_MAX = 32;

/**
 * What short texts of plain ASCII say, for those that come again and again: each is made once, not for each call, with
 * which it may stay in memory. A text takes the place of another of the same hash.
 */
export class KnownTexts {
  readonly #texts: (string | undefined)[] = new Array(PLACES).fill(undefined);

  /** The text in these bytes; undefined where it is none to be kept, or the bytes end before. */
  find(bytes: Buffer, from: number, to: number): string | undefined {
    if (to - from > LENGTH_MAX || to > bytes.length) return undefined;
    let hash = 0x811c9dc5;
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at] as number;
      if (byte > 0x7f) return undefined;
      hash = Math.imul(hash ^ byte, 0x01000193);
    }
    const place = (hash ^ (hash >>> 15)) & (PLACES - 1);
    const known = this.#texts[place];
    if (known !== undefined && isIn(known, bytes, from, to)) return known;
    const text = bytes.toString("latin1", from, to);
    this.#texts[place] = text;
    return text;
  }
}

function isIn(text: string, bytes: Buffer, from: number, to: number): boolean {
  if (text.length !== to - from) return false;
  for (let at = 0; at < text.length; at += 1) {
    if (charCodeAt.call(text, at) !== bytes[from + at]) return false;
  }
  return true;
}
