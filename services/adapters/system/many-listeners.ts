import { setMaxListeners } from "node:events";

/** For a signal that every call under way listens to: hundreds at once are no leak, of which Node would warn. */
export function allowManyListeners(signal: AbortSignal): void {
  try {
    setMaxListeners(0, signal);
  } catch {
    // Not one of Node's (a test environment brings its own): nobody warns of it.
  }
}
