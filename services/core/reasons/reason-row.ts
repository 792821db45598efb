/** What the gate, its documents and its numbers know of a reason: one row of the table. */

/** What kind of thing keeps a call from running: how decisions are grouped in numbers and documents. */
export type ReasonGroup =
  | "input"
  | "gate"
  | "permission"
  | "stop"
  | "budget"
  | "repeat"
  | "effect"
  | "rate";

export interface ReasonRow<Row extends string = string> {
  /**
   * The row of `policy explain` that shows it: that of the check or step that gives it, or of the main
   * check where a further pass of it does (`history`, `acknowledgement`, `denials`, `denied_forms`).
   */
  readonly row: Row;
  /**
   * always: enforced whatever a policy says, and naming it in `checks` is an error. enforce, warn:
   * the mode under the preset `balanced`; `strict` enforces both, `observe` records both.
   */
  readonly mode: "always" | "enforce" | "warn";
  readonly group: ReasonGroup;
  /** A refusal for repetition, which is a strike on the ladder (docs/engine.md, the ladder). */
  readonly isStrike?: true;
  /** The same call, unchanged, may be proposed again after a wait and then be allowed. */
  readonly isRetryable?: true;
  /** The earlier call failed: there is nothing that this one would be a duplicate of. */
  readonly isFailure?: true;
  /** Nothing of the past is the reason, so that trying on has no other end than the budget. */
  readonly usesBudget?: true;
  /** May come again under one decision id: the name was another call's, or no call's. */
  readonly keepsNoName?: true;
  /** Leaves the state as it was: it begins no conversation, and one that exists learns nothing of it. */
  readonly keepsNoState?: true;
  /** Off where `tool_deduplication.enabled` is false. */
  readonly isOffWithDuplicates?: true;
  /**
   * For the model that proposed the call: what happened and what to do now. Complete sentences
   * that need nothing filled in; details of the case (paths, waits, earlier results) follow it.
   */
  readonly modelText: string;
  /** For whoever runs the gate: when the reason is given. */
  readonly cause: string;
  /** For whoever runs the gate: what to do about it. */
  readonly remedy: string;
}
