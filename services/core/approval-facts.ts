/** What events say of a hold beside its call. */

/** The rule that a person is asked about, in words. */
export interface RuleScope {
  /** Name of its tier, and of the rule where several have that tier. */
  readonly of: string;
  /** Other rules of the tool under which its calls may wait for a person. */
  readonly notOf: readonly string[];
}

/** A person's no; who said it is `approvedBy` of the decision. */
export interface Denial {
  readonly reason: string | null;
}
