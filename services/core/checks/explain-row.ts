/** What `policy explain` shows of a check: what it looked at, and where the policy speaks of it. */
import type { DecisionEvent } from "../events.ts";
import type { ProposalInput } from "../inputs.ts";
import type { CompiledPolicy, CompiledTool, JudgedCommand } from "../policy/compiled.ts";
import type { ConversationState } from "../state/state.ts";

export interface ExplainedCall {
  readonly state: ConversationState | undefined;
  readonly proposal: ProposalInput;
  readonly policy: CompiledPolicy;
  readonly tool: CompiledTool;
  /** Of a tool with `commands`: what each part of the call is judged by. */
  readonly commands: readonly JudgedCommand[];
  readonly nowMs: number;
  /** The decision with nothing enforced: carries what the call touches. */
  readonly unenforced: DecisionEvent;
}

export interface ExplainRow {
  /** Where the policy speaks of it while nothing fires. */
  readonly rule: (tool: CompiledTool) => string;
  readonly value: (call: ExplainedCall) => string;
}
