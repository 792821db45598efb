/** What a part of the evaluation ends with. */
export interface PartTarget {
  readonly name: string;
  readonly wanted: string;
  readonly actual: string;
  readonly ok: boolean;
}

export interface PartResult {
  readonly name: string;
  /** What was missing, so that the part measured nothing; else empty. */
  readonly missing: readonly string[];
  readonly targets: readonly PartTarget[];
}
