import { setTimeout as sleep } from "node:timers/promises";
import { classify } from "../../runtime/errors.ts";
import type { Logger } from "../../runtime/ports.ts";

const PAUSE_MS_MIN = 250;
const PAUSE_MS_MAX = 5_000;

/**
 * What the action gives, once what it needs is there: brokers and registries may start after us.
 *
 * @param signal ends the waiting, with the error that there was last.
 * @throws what no waiting mends.
 */
export async function untilThere<T>(
  action: () => Promise<T>,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<T> {
  for (let pauseMs = PAUSE_MS_MIN; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    try {
      return await action();
    } catch (error) {
      if (classify(error) !== "retry" || signal.aborted) throw error;
      const message = error instanceof Error ? error.message : String(error);
      logger.warn("waits for what it needs", { message, pauseMs });
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
