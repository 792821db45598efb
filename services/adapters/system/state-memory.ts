import { getHeapStatistics } from "node:v8";
import type { ConversationLimits } from "../../runtime/conversation-bounds.ts";
import { INDEX_BYTES } from "../../runtime/stored-conversation.ts";

const SHARE = 1 / 4;

/** Bytes for conversations where nothing else is configured: a quarter of what the process may have. */
export function defaultStateMemory(): number {
  return Math.floor(getHeapStatistics().heap_size_limit * SHARE);
}

/** Share of the state memory for the index where most conversations are in the state store. */
const INDEX_SHARE = 1 / 2;
/** Share of the heap for conversations where all of them are in memory. */
const HEAP_SHARE = 1 / 2;
/** About what a conversation of five calls takes there, with what the garbage collector has not freed (`npm run bench -- --only state`). */
const CONVERSATION_BYTES = 14 * 1_024;

/**
 * The limits with the default of `conversations`: as many as memory has room for.
 * @param stateMemoryBytes see `defaultStateMemory`; null: there is no state store.
 */
export function withDefaultLimits(
  limits: ConversationLimits,
  stateMemoryBytes: number | null,
): ConversationLimits {
  const { conversations = defaultConversations(stateMemoryBytes) } = limits;
  return { ...limits, conversations };
}

function defaultConversations(stateMemoryBytes: number | null): number {
  if (stateMemoryBytes !== null) return atLeastOne((stateMemoryBytes * INDEX_SHARE) / INDEX_BYTES);
  return atLeastOne((getHeapStatistics().heap_size_limit * HEAP_SHARE) / CONVERSATION_BYTES);
}

function atLeastOne(count: number): number {
  return Math.max(1, Math.floor(count));
}
