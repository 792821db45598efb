/** Finds the prior call of a call: the latest earlier allowed call with the same action key. */
import { ledgerGet } from "../../collections/ledger.ts";
import type { CallAllowed, CallHeld, Execution } from "../events.ts";
import { heldPriorKey, latestHeld } from "./open-calls.ts";
import { type ConversationState, NO_TROUBLE, type PriorCall, type Trouble } from "./state.ts";

/**
 * Keys in turn scope contain the turn, so the next turn starts without prior calls. `key`: of a call that each
 * agent of a conversation makes for itself the loop key, else the action key.
 */
export function makePriorKey(
  key: string,
  scope: "turn" | "conversation",
  turn: string | null,
): string {
  return scope === "conversation" || turn === null ? key : `${key}@${turn}`;
}

export function findPriorCall(
  state: ConversationState,
  priorKey: string,
  isRead: boolean,
  nowMs: number,
): PriorCall | undefined {
  return ledgerGet(isRead ? state.priorReads : state.priorWrites, priorKey, nowMs);
}

/** A call with the same identity that waits for a verdict; `except` excludes one hold. */
export function findHeldPriorCall(
  state: ConversationState,
  priorKey: string,
  except: string | null,
): CallHeld | null {
  if (state.openIndex.heldCount === 0) return null;
  return latestHeld(state, heldPriorKey(priorKey), except)?.held ?? null;
}

/** What few calls have; `NO_TROUBLE` where there is none. */
export function troubleOf(trouble: Trouble): Trouble {
  const { errorMessage, effect, doubted, failure } = trouble;
  const isNone = errorMessage === null && effect === null && !doubted && failure === null;
  return isNone ? NO_TROUBLE : trouble;
}

/** The execution as a prior call retains it: null where the call opened it. */
export function ownExecution(event: CallAllowed): Execution | null {
  const { decisionId, openedAtMs, attempt } = event.execution;
  const isOwn = attempt === 1 && decisionId === event.decisionId;
  return isOwn && openedAtMs === event.times.proposalsAtMs ? null : event.execution;
}

export function executionOf(priorCall: PriorCall): Execution {
  const { execution, decisionId, atMs } = priorCall;
  return execution ?? { decisionId, openedAtMs: atMs, attempt: 1 };
}
