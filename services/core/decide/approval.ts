/** The hold that a verdict ends. `stands`: the approved rule is still the rule of the call. */
export interface Approval {
  readonly approvalId: string;
  readonly by: readonly string[];
  readonly stands: boolean;
}
