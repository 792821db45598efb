/** Facts of a hold that events carry beside its call. */

/** The rule that a person is asked about, in words. */
export interface RuleScope {
  /** Name of its tier, and of the rule where several rules have that tier. */
  readonly of: string;
  /** Other rules of the tool under which its calls may wait for a person. */
  readonly notOf: readonly string[];
}

/** A person's denial; the person is `approvedBy` of the decision. */
export interface Denial {
  readonly reason: string | null;
}
