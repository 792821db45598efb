/** Bounds on one call's arguments. A text outside them is refused before it is looked at further. */
export type CanonicalLimits = {
  /** Largest size of the text, as it came and in canonical form, in UTF-8 bytes. */
  readonly maxBytes: number;
  /** Most arrays and objects inside each other; a bare scalar has depth 0. */
  readonly maxDepth: number;
  /** Most object members in the whole text. */
  readonly maxKeys: number;
};

/** The range within which a policy may set `maxBytes`, see docs/canonical.md. */
export const LEAST_MAX_BYTES = 1024;
export const GREATEST_MAX_BYTES = 900 * 1024;

export const DEFAULT_CANONICAL_LIMITS: CanonicalLimits = Object.freeze({
  maxBytes: 256 * 1024,
  maxDepth: 32,
  maxKeys: 4096,
});
