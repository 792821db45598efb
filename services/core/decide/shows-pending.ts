/**
 * Whether an output says that the work it reports on goes on: then memory must not answer the next look, or
 * the agent would never see the end.
 */

/** Each name and word is in the table of docs/engine.md. */
const PENDING = /"(?:status|state|phase)" ?: ?"(?:running|queued|pending|in[ _-]?progress)"/i;

export function showsPending(output: string | null): boolean {
  return output !== null && PENDING.test(output);
}
