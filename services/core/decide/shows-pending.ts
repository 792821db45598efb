/**
 * Whether an output says that the work it reports on goes on: then memory must not answer the next look, or
 * the agent would never see the end.
 */

/** Longer outputs describe a thing, such as an order that is pending for days. */
const CHARACTERS_MAX = 500;

const PENDING = /"(?:status|state|phase)" ?: ?"(?:running|queued|pending|in[ _-]?progress)"/i;

export function showsPending(output: string | null): boolean {
  return output !== null && output.length <= CHARACTERS_MAX && PENDING.test(output);
}
