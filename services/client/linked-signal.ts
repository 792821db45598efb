export type LinkedSignal = {
  readonly signal: AbortSignal;
  /** Lets go of the sources: they may live much longer. */
  unlink(): void;
};

/** A signal that aborts with the first of its sources, for the same reason. */
export function linkSignals(sources: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController();
  const links = sources.map((source) => {
    const abort = (): void => controller.abort(source.reason);
    if (source.aborted) abort();
    else source.addEventListener("abort", abort, { once: true });
    return () => source.removeEventListener("abort", abort);
  });
  return {
    signal: controller.signal,
    unlink: () => {
      for (const unlink of links) unlink();
    },
  };
}
