import { setMaxListeners } from "node:events";

/**
 * Disables Node's warning of a leak for a signal that all running calls listen to, since hundreds
 * of listeners are normal there.
 */
export function allowManyListeners(signal: AbortSignal): void {
  try {
    setMaxListeners(0, signal);
  } catch {
    // A test environment may have its own kind of signal, without such warnings.
  }
}
