/**
 * Where a policy was written. A path of the normalized document, as `policyPath` prints it, names a
 * value: `tool_schemas.charge_card.effects[0]`, `authorization.tiers[2].pattern`. A decision's
 * `rule` and a compile problem both carry such a path.
 */

/** One location in a policy file; line and column count from 1. */
export type PolicyPosition = {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Path of the value there: the requested one, or its nearest written ancestor. */
  readonly path: string;
};

/** Finds where a value of the document was written. */
export type PolicySource = {
  /**
   * The value at `path`, else its nearest written ancestor, in the end the document itself (path
   * ""). Null where the policy was passed as an object and has no lines.
   */
  readonly locate: (path: string) => PolicyPosition | null;
};
