/** A call that waits for people, and their verdicts so far. */
import type { CallHeld } from "../../core/events.ts";

/** The verdicts that end a hold, or help to end it. */
export type HoldVerdict = "approve" | "deny" | "cancel";

/** A held call, and the partition to which its answer must go. */
export interface Hold {
  readonly held: CallHeld;
  readonly partition: number;
  /** The people who have approved it, if several must. */
  readonly approvedBy: readonly string[];
  /**
   * Valid verdicts that no gate has processed yet, the earliest first; none follows a terminal one.
   */
  readonly waiting: readonly WaitingVerdict[];
  /** The conversation has ended: the gate refuses the call even if it is approved. */
  readonly isOfEnded: boolean;
}

export type WaitingVerdict = { readonly kind: HoldVerdict; readonly by: string };
