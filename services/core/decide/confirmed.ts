import { trieGet } from "../../collections/trie.ts";
import type { CallContext } from "../checks/check.ts";
import type { Decision } from "../decision.ts";
import type { ConfirmedCall } from "../inputs.ts";
import { LIMITS } from "../limits.ts";
import type { ConversationState } from "../state/state.ts";

/**
 * A confirmation is used up by the first proposal that carries it. Where the platform signed it, it
 * counts only for the call that it names; any other call is judged as if it had none. Once the
 * bound of remembered confirmations is reached, no further one counts.
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
