// Notifiers on a data directory, with a clock that a test sets.
import { onTestFinished } from "vitest";
import { notifyTarget } from "../../services/adapters/config/notify-target.ts";
import { createProcessMetrics } from "../../services/adapters/metrics/process-metrics.ts";
import { systemClock } from "../../services/adapters/system/clock.ts";
import {
  type Notifier,
  type NotifierParts,
  startNotifier,
} from "../../services/notify/notifier.ts";
import { openLog } from "../../services/process/directory/open-log.ts";
import { makeDirectory } from "./open-gate.ts";
import { createTestLogger, type LoggedLine } from "./runtime-kit.ts";
import { WEBHOOK_SECRET, type WebhookReceiver } from "./webhook-receiver.ts";

const TICK_MS = 5;

/** The target of a receiver on this machine. */
export function targetOf(receiver: WebhookReceiver, overrides: object = {}) {
  const { url } = receiver;
  const target = { id: "ops", url, allowPrivate: true, secret: WEBHOOK_SECRET, ...overrides };
  return notifyTarget.parse(target);
}

export class NotifyKit {
  readonly directory = makeDirectory();
  readonly lines: LoggedLine[] = [];
  readonly failures: unknown[] = [];
  readonly metrics = createProcessMetrics("test");
  nowMs = 1_800_000_000_000;
  readonly #dataDir: string;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Closed after the test, if it was not before. */
  async start(
    targets: NotifierParts["targets"],
    choices: Partial<NotifierParts> = {},
  ): Promise<Notifier> {
    const { log, codec, close } = openLog(this.#dataDir);
    onTestFinished(() => close());
    const notifier = await startNotifier({
      ...{ log, codec, targets, directory: this.directory, from: "start" },
      ...{ logger: createTestLogger(this.lines), metrics: createProcessMetrics("test") },
      fail: (error) => this.failures.push(error),
      random: () => 0.5,
      clock: {
        nowMs: () => this.nowMs,
        sleep: (timeMs, signal) => systemClock.sleep(Math.min(timeMs, TICK_MS), signal),
      },
      ...choices,
    });
    onTestFinished(() => notifier.close());
    return notifier;
  }
}
