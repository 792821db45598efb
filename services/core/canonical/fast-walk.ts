/** What the fast reader gives, and what it knows while it walks over a text. */

import type { JsonValue } from "./json-value.ts";
import type { CanonicalLimits } from "./limits.ts";

export type FastRead = {
  readonly value: JsonValue;
  readonly text: string;
  readonly keyCount: number;
  readonly depth: number;
};

/** One walk over one text; the parts are in the reader's table until the next walk. */
export type Walk = {
  readonly text: string;
  readonly limits: CanonicalLimits;
  /** Where the next backslash stands, or the length of the text. */
  backslash: number;
  /** False where the text differs from its canonical form. */
  asItStands: boolean;
  /** Texts of values of kind `PRINTED`, by slot. */
  pieces: Map<number, string> | undefined;
  keyCount: number;
  depth: number;
  /** First slot that is not in use. */
  free: number;
};
