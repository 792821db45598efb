/** A hold that a verdict ends. `stands`: the rule that was approved is the rule still. */
export interface Approval {
  readonly approvalId: string;
  readonly by: readonly string[];
  readonly stands: boolean;
}
