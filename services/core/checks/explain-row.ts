/**
 * What `policy explain` shows of a check: what the check looked at, and which rule of the policy
 * applies.
 */
import type { DecisionEvent } from "../events.ts";
import type { ProposalInput } from "../inputs.ts";
import type { CompiledPolicy, CompiledTool, JudgedCommand } from "../policy/compiled.ts";
import type { ConversationState } from "../state/state.ts";

export interface ExplainedCall {
  readonly state: ConversationState | undefined;
  readonly proposal: ProposalInput;
  readonly policy: CompiledPolicy;
  readonly tool: CompiledTool;
  /** Of a tool with `commands`: each part of the call with the rule that judges it. */
  readonly commands: readonly JudgedCommand[];
  readonly nowMs: number;
  /** The decision with nothing enforced, which carries what the call touches. */
  readonly unenforced: DecisionEvent;
}

export interface ExplainRow {
  /** The path of the rule where nothing fires. */
  readonly rule: (tool: CompiledTool) => string;
  readonly value: (call: ExplainedCall) => string;
}
