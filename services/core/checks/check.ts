/** What a check is, what it gets and what it returns. */
import type {
  CallFacts,
  Conflict,
  Disposition,
  EarlierResult,
  EffectHolder,
  PreviousCall,
  Refusal,
} from "../events.ts";
import type { ProposalInput } from "../inputs.ts";
import type { CompiledHold, CompiledPolicy, CompiledTool } from "../policy/compiled.ts";
import type { PolicyDocument, ToolDocument } from "../policy/document.ts";
import type { CheckName } from "../reasons/check-reasons.ts";
import type { ReasonCode } from "../reasons/reasons.ts";
import type { ConversationState, PriorCall } from "../state/state.ts";
import type { ExplainRow } from "./explain-row.ts";

/** One call, parsed and identified, with the state that it is judged in. */
export interface CallContext {
  readonly policy: CompiledPolicy;
  readonly tool: CompiledTool;
  /** The conversation after the call's turn began. */
  readonly state: ConversationState;
  readonly proposal: Omit<ProposalInput, "type" | "arguments" | "rejected" | "approvalId">;
  readonly decisionId: string;
  /** Digest of (tool, identity). */
  readonly actionKey: string;
  /** The action as the agent takes it (`loopKeyOf` in `state/recent-calls.ts`). */
  readonly loopKey: string;
  /** Time of proposals, ms, which windows are compared with. */
  readonly nowMs: number;
  readonly facts: CallFacts;
  readonly priorCall: PriorCall | undefined;
  /** Resources whose change makes a repeat intended; null: a change of anything does. */
  readonly dependsOn: readonly string[] | null;
  /** Whether a verdict or a user's confirmation names this call: then a repeat is intended. */
  readonly isConfirmed: boolean;
  /** Whether a verdict approved the call as it is judged now: then it is not held again. */
  readonly approved: boolean;
  /** Whether the call was held: then its own reservation does not count against it. */
  readonly wasHeld: boolean;
  /**
   * Reads who holds a resource in any conversation of the tenant, the latest first; null: the policy has no
   * effect of this reach, or claims are not known here.
   */
  readonly claims: ClaimsOfTenant | null;
}

export type ClaimsOfTenant = (resource: string, proposalsAtMs: number) => readonly EffectHolder[];

/** A reason that fires. The policy's mode for the reason decides what follows. */
export interface Finding {
  readonly reason: ReasonCode;
  readonly rule: string;
  readonly disposition: Disposition;
  /** Details of the case, after the reason's own sentence. */
  readonly detail: string | null;
  readonly retryAfterMs: number | null;
  /** The earlier call that the refusal names, with its result. */
  readonly previous: PriorCall | null;
  /**
   * An earlier call with other arguments or of another tool; the refusal names it without its
   * result.
   */
  readonly earlier: PreviousCall | null;
  /** A read that is answered from memory: no strike, and it counts among the recent calls. */
  readonly answered: boolean;
  /** A loop of reads that memory could answer: the refusal has the result, and stops nothing else. */
  readonly isServed: boolean;
  readonly conflict: Conflict | null;
  /** Action keys that are refused from now on, as a cycle. */
  readonly cycle: readonly string[] | null;
  /** The key under which strikes of this finding are counted; null: the action key. */
  readonly strikeKey: string | null;
  /** Whether the finding only warns where the policy enforces the reason. */
  readonly warnsOnly: boolean;
  /** Terms of the hold where the call is held instead of refused. */
  readonly hold: CompiledHold | null;
  readonly resolution: "retry_after" | "approval" | "confirmation" | "new_turn" | "none";
  /** The approval that is waited for; null: none. */
  readonly approvalId: string | null;
  readonly earlierResults: readonly EarlierResult[] | null;
  /** Everything wrong with the arguments. */
  readonly problems: Refusal["problems"];
  /** A sentence that may be shown to the user. */
  readonly userMessage: string | null;
}

/** Strike key of refusals that no earlier call explains: they are counted by tool and reason. */
export function strikeKeyOf({ tool }: Pick<CallContext, "tool">, reason: ReasonCode): string {
  return `${reason} ${tool.name}`;
}

/**
 * One file of this folder; each check is pure. Its name in `CHECK_ORDER` determines when it runs.
 */
export interface Check {
  readonly name: CheckName;
  readonly find: (call: CallContext) => readonly Finding[];
  /**
   * What the check reads of the document and of the tool's entry; null: nothing. It is compiled once for
   * a tool, and once for each variant and each rule of `commands`, whose keys are merged into the entry.
   * Of a call of several parts the settings of one part count: of the strictest, or of one that writes
   * where the strictest only reads (`policy/merge-variants.ts`).
   */
  readonly compile: (document: PolicyDocument, entry: ToolDocument) => unknown;
  /**
   * The row of `policy explain`; null: another check has the row, and this is a further pass of it.
   */
  readonly row: ExplainRow | null;
}

interface CheckParts<Settings> {
  readonly find: (call: CallContext, settings: Settings) => readonly Finding[];
  readonly compile?: (document: PolicyDocument, entry: ToolDocument) => Settings;
  readonly row?: ExplainRow;
}

/** `find` gets what `compile` made for the tool of the call. */
export function defineCheck<Settings = null>(
  name: CheckName,
  { find, compile, row }: CheckParts<Settings>,
): Check {
  return {
    name,
    find: (call) => find(call, call.tool.settings[name] as Settings),
    compile: compile ?? (() => null),
    row: row ?? null,
  };
}

export const NOTHING: readonly Finding[] = [];

type FindingParts = Pick<Finding, "reason" | "rule" | "disposition"> & Partial<Finding>;

export function finding(parts: FindingParts): Finding {
  return {
    detail: null,
    retryAfterMs: null,
    previous: null,
    earlier: null,
    answered: false,
    isServed: false,
    conflict: null,
    cycle: null,
    strikeKey: null,
    warnsOnly: false,
    hold: null,
    resolution: "none",
    approvalId: null,
    earlierResults: null,
    problems: [],
    userMessage: null,
    ...parts,
  };
}
