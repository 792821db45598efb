/** Parses and prints the name of a conversation. */
import { usageError } from "../../process/exit-error.ts";
import { conversationProblem } from "../../wire/input-rules.ts";
import { printable } from "../output/text.ts";

export interface ConversationId {
  readonly tenantId: string;
  readonly conversationId: string;
}

/** The tenant if none is given, as in the library. */
const TENANT = "default";
const TEXT_CHARACTERS = 64;

/** The name that `parseConversation` reads as this conversation; includes the tenant if needed. */
export function conversationName({ tenantId, conversationId }: ConversationId): string {
  const isPlain = tenantId === TENANT && !conversationId.includes("/");
  return isPlain ? conversationId : `${tenantId}/${conversationId}`;
}

/**
 * `conversation`, or `tenant/conversation`: a tenant has no `/`, a conversation may.
 *
 * @throws ExitError if no conversation can have this name: a gate could not read the verdict.
 */
export function parseConversation(name: string): ConversationId {
  const at = name.indexOf("/");
  const tenantId = at < 0 ? TENANT : name.slice(0, at);
  const conversation = { tenantId, conversationId: name.slice(at + 1) };
  const problem = conversationProblem(conversation);
  if (problem === undefined) return conversation;
  const shown = printable(name, TEXT_CHARACTERS);
  throw usageError(`\`${shown}\`: ${problem}; name it as \`callgate tail\` prints it`);
}
