/** A call that waits for people, and what they have said of it. */
import type { CallHeld } from "../../core/events.ts";

/** What ends a hold, or helps to. */
export type HoldVerdict = "approve" | "deny" | "cancel";

/** A held call, and where its answer has to go. */
export interface Hold {
  readonly held: CallHeld;
  readonly partition: number;
  /** Who has approved it, of several who must. */
  readonly approvedBy: readonly string[];
  /** Verdicts that count and no gate has taken yet, the earliest first: none after one that decides. */
  readonly waiting: readonly WaitingVerdict[];
  /** Its conversation has ended: the gate refuses the call even where it is approved. */
  readonly isOfEnded: boolean;
}

export type WaitingVerdict = { readonly kind: HoldVerdict; readonly by: string };
