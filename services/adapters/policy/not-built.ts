/**
 * The part of the vocabulary that no check implements. A policy that uses it is refused: a rule that
 * looks active and is not would be worse than none. Implementing something deletes its line here.
 */
export type NotBuilt = {
  /** Keys from the top of the document; `*` is any key or list index. */
  readonly path: readonly string[];
};

const KEYS: readonly string[] = [];

export const NOT_BUILT: readonly NotBuilt[] = KEYS.map((path) => ({ path: path.split(".") }));
