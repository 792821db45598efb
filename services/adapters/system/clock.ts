import type { Clock } from "../../runtime/ports.ts";

/** The host's clock. Its sleeps do not keep the process alive. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  sleep: (timeMs, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, timeMs).unref();
      signal?.addEventListener("abort", done);
    }),
};
