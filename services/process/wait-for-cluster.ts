import { setTimeout as sleep } from "node:timers/promises";
import { classify } from "../runtime/errors.ts";
import type { Logger } from "../runtime/ports.ts";

export type Waiting = {
  readonly logger: Logger;
  /** Ends the wait at once, also for an action that is under way. */
  readonly signal: AbortSignal;
  /** Called with what is missing, whenever that changes. */
  readonly waitsFor: (what: string) => void;
};

export const BROKERS = "an answer of the brokers (`kafka.brokers`)";
export const REGISTRY = "an answer of the schema registry (`registry.url`)";
const CLUSTER = `${BROKERS}, or of the schema registry where one is configured`;
const PAUSE_MS_MIN = 250;
const PAUSE_MS_MAX = 5_000;

/** The process was asked to end before it had what it needs. */
class StoppedError extends Error {
  override readonly name = "StoppedError";
}

/**
 * Retries the action until what it needs is available, since brokers and registries may start after
 * us. Returns its result.
 *
 * @param what what the action needs. It is reported before the first try, because a server that
 *   does not answer fails late; later each failure is reported.
 * @throws errors that waiting cannot fix.
 */
export async function untilThere<T>(
  action: () => Promise<T>,
  { logger, signal, waitsFor }: Waiting,
  what = CLUSTER,
): Promise<T> {
  waitsFor(what);
  for (let pauseMs = PAUSE_MS_MIN; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    try {
      return await unlessStopped(action(), signal);
    } catch (error) {
      if (classify(error) !== "retry") throw error;
      const message = error instanceof Error ? error.message : String(error);
      waitsFor(message);
      logger.warn("waits for what it needs", { message, pauseMs });
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

async function unlessStopped<T>(done: Promise<T>, signal: AbortSignal): Promise<T> {
  const stopped = new Promise<never>((_resolve, reject) => {
    const stop = (): void => reject(new StoppedError("asked to end"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  // The promise that settles second is ignored.
  done.catch(() => undefined);
  stopped.catch(() => undefined);
  return Promise.race([done, stopped]);
}
