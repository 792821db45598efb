import { setMaxListeners } from "node:events";

/** For a signal that every call under way listens to: hundreds at once are no leak, of which Node would warn. */
export function allowManyListeners(signal: AbortSignal): void {
  setMaxListeners(0, signal);
}
