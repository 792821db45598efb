/** The state of a walk over one text: the position, the counts, and why it ended. */

import { type CanonicalCode, type CanonicalFailure, canonicalFailure, shown } from "./failure.ts";
import type { CanonicalLimits } from "./limits.ts";

export type Reader = {
  readonly text: string;
  readonly limits: CanonicalLimits;
  /** Whether each string of the text is exactly the text between its quotes. */
  readonly isPlain: boolean;
  at: number;
  /**
   * Canonical text of the value that was just passed; undefined where it equals the source text.
   */
  printed: string | undefined;
  openCount: number;
  depth: number;
  keyCount: number;
  failure: CanonicalFailure | undefined;
};

/** Characters of a string that need a closer look. */
const SPECIAL = /[\\\u0000-\u001f\ud800-\udfff]/;

export function createReader(text: string, limits: CanonicalLimits): Reader {
  return {
    text,
    limits,
    isPlain: isPlain(text),
    at: 0,
    printed: undefined,
    openCount: 0,
    depth: 0,
    keyCount: 0,
    failure: undefined,
  };
}

export function isPlain(text: string): boolean {
  return !SPECIAL.test(text);
}

/** Records why the walk ends here. */
export function stop(reader: Reader, code: CanonicalCode, message: string, at = reader.at): false {
  reader.failure = canonicalFailure(code, message, at);
  return false;
}

export function stopUnexpected(reader: Reader, wanted: string): false {
  const unit = reader.text.charAt(reader.at);
  const unexpected = unit === "" ? "the end of the text" : shown(unit);
  return stop(reader, "syntax", `found ${unexpected} where ${wanted} must stand, send valid JSON`);
}

/** Steps over white space and gives the unit behind it; NaN at the end of the text. */
export function skipSpace(reader: Reader): number {
  let unit = reader.text.charCodeAt(reader.at);
  while (unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09) {
    reader.at += 1;
    unit = reader.text.charCodeAt(reader.at);
  }
  return unit;
}
