import type { CallStatus, OnFailure } from "../events.ts";

/** A call with an exclusive effect on a resource. */
export interface EffectHolder {
  readonly decisionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly kind: string;
  readonly actionKey: string;
  /** `n` of the state when the call was allowed (CONVERSATION-3). */
  readonly n: number;
  readonly atMs: number;
  /** Failed: it may have happened all the same; a failure that had no effect frees the resource. */
  readonly status: CallStatus;
  /** Ancestors of the resource by `contains` edges; null: its path alone has them. */
  readonly ancestors: readonly string[] | null;
  readonly onFailure: OnFailure;
}
