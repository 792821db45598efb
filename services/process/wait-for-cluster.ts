import { setTimeout as sleep } from "node:timers/promises";
import { classify } from "../runtime/errors.ts";
import type { Logger } from "../runtime/ports.ts";

export type Waiting = {
  readonly logger: Logger;
  /** Ends the waiting at once, also for an action that is under way. */
  readonly signal: AbortSignal;
  /** Told what is waited for, whenever that is another thing. */
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
 * What the action gives, once what it needs is there: brokers and registries may start after us.
 *
 * @param what it needs; told before the first try, as what is silent fails late. Then each failure is.
 * @throws what no waiting mends.
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
  // Whichever of the two comes second is nobody's business any more.
  done.catch(() => undefined);
  stopped.catch(() => undefined);
  return Promise.race([done, stopped]);
}
