/** Handles SIGINT and SIGTERM as a request to finish; a second signal ends the process at once. */

export interface Stop {
  readonly signal: AbortSignal;
  /** Requests the end without a signal. */
  readonly now: () => void;
  /** Removes the handlers. */
  readonly end: () => void;
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

export function onStop(): Stop {
  const controller = new AbortController();
  const end = () => {
    for (const name of SIGNALS) process.off(name, stop);
  };
  const stop = () => {
    // Without a handler the next signal does what it does by default: it ends the process.
    end();
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, stop);
  return { signal: controller.signal, now: () => controller.abort(), end };
}
