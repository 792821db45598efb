import type { CallStatus, OnFailure } from "../events.ts";

/** A call with an exclusive effect on a resource. */
export interface EffectHolder {
  readonly decisionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly kind: string;
  readonly actionKey: string;
  /** When it was allowed (CONVERSATION-3). */
  readonly n: number;
  readonly atMs: number;
  /** Failed: it may have happened all the same; a failure that had no effect frees the resource. */
  readonly status: CallStatus;
  /** The ancestors of the resource by `contains` edges; null: its path alone says it. */
  readonly ancestors: readonly string[] | null;
  readonly onFailure: OnFailure;
}
