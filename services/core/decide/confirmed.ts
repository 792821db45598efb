import { trieGet } from "../../collections/trie.ts";
import type { CallContext } from "../checks/check.ts";
import type { Decision } from "../decision.ts";
import type { ConfirmedCall } from "../inputs.ts";
import { LIMITS } from "../limits.ts";
import type { ConversationState } from "../state/state.ts";

/**
 * A confirmation is spent on the first proposal that carries it. Where the platform signed it, it counts
 * for the call that it names alone, and any other call is judged as if there were none. Beyond the bound of
 * those that are remembered none counts any more.
 */
export function isConfirmed(
  state: ConversationState,
  { confirmation, vouched }: CallContext["proposal"],
  call: Decision,
): boolean {
  if (confirmation === null || state.confirmations.size >= LIMITS.confirmations) return false;
  if (vouched !== undefined && !isAbout(vouched.confirms, call)) return false;
  return trieGet(state.confirmations, confirmation) === undefined;
}

function isAbout(confirms: ConfirmedCall | null, call: Decision): boolean {
  if (confirms === null || confirms.tool !== call.call.tool) return false;
  const { callId, argumentsDigest } = confirms;
  if (callId === null && argumentsDigest === null) return false;
  return (
    (callId === null || callId === call.call.callId) &&
    (argumentsDigest === null || argumentsDigest === call.arguments.digest)
  );
}
