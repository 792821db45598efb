/** What the action gives, unless the signal aborts before: then it is left to itself. @throws what it throws; the signal's reason. */
export function unlessAborted<T>(action: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    const done = (): void => signal.removeEventListener("abort", abort);
    if (signal.aborted) abort();
    // Taken off again: the signal outlives many actions, and keeps what listens to it.
    signal.addEventListener("abort", abort, { once: true });
    action.finally(done).then(resolve, reject);
  });
}
