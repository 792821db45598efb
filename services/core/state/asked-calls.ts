/** Finds calls that a person was asked about, whatever turn and step their platform has reached. */
import { trieVisit } from "../../collections/trie.ts";
import type { AskedCall, ConversationState, OpenCall } from "./state.ts";

export interface AskedAgain {
  readonly callId: string;
  readonly approvalId: string | null;
  /** Digest of the arguments: other arguments make another call. */
  readonly argumentsDigest: string;
}

export type AskedOpenCall = OpenCall & { readonly asked: AskedCall };

/**
 * The call that waits for a verdict, or was approved and has not started: the one with the approval
 * id, else the latest with the call id.
 */
export function findAsked(
  { open }: ConversationState,
  again: AskedAgain,
): AskedOpenCall | undefined {
  let match: AskedOpenCall | undefined;
  trieVisit(open, (call) => {
    if (!isAskedFor(call, again)) return false;
    if (call.asked.approvalId === again.approvalId) {
      match = call;
      return true;
    }
    if (call.callId === again.callId && (match === undefined || call.n >= match.n)) match = call;
    return false;
  });
  return match;
}

function isAskedFor(call: OpenCall, { argumentsDigest }: AskedAgain): call is AskedOpenCall {
  if (call.asked === null || call.started || call.status === "unknown") return false;
  return call.asked.argumentsDigest === argumentsDigest;
}
