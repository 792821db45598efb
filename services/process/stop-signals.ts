/** SIGINT and SIGTERM as a request to finish; the second one ends the process at once. */

export interface Stop {
  readonly signal: AbortSignal;
  /** Asks for the same without a signal. */
  readonly now: () => void;
  /** Signals are the system's business again. */
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
