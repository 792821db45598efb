/**
 * Sends the deliveries of one target, the longest due first, and several at a time.
 *
 * DELIVER-1 a delivery leaves the store only after its receiver answered with success, or for the
 *    list of dead ones: a crash in between sends it once more, under the same id.
 * DELIVER-2 targets do not wait for each other.
 */
import type { Delivery, DeliveryCounts, DeliveryStore } from "../adapters/lmdb/delivery-store.ts";
import type { Resolve } from "../adapters/webhooks/check-address.ts";
import { sendWebhook, type WebhookOutcome } from "../adapters/webhooks/send-webhook.ts";
import { signWebhook } from "../adapters/webhooks/sign-webhook.ts";
import { RetryableError } from "../runtime/errors.ts";
import type { Clock, Logger } from "../runtime/ports.ts";
import type { NotifyEvent } from "./notify-event.ts";
import { nextTryMs } from "./retry-schedule.ts";
import type { Target } from "./target.ts";

const PARALLEL_MAX = 4;
/** Another process may let dead deliveries be sent again, and nobody tells us. */
const LOOK_EVERY_MS = 1_000;
/** A receiver hears of an event again as long as its success cannot be stored: not too often. */
const STORE_WAIT_MS = 5_000;
/** How long the end waits for answers that are under way. */
const END_MS = 3_000;

export type DeliverParts = {
  readonly store: DeliveryStore<NotifyEvent>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timeoutMs: number;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly resolve: Resolve | undefined;
  /** Called before each write. @throws where another process owns the directory. */
  readonly check: () => void;
  readonly count: (what: "sent" | "failed" | "dropped", target: string, amount: number) => void;
};

export class TargetSender {
  readonly #parts: DeliverParts;
  readonly #target: Target;
  readonly #sending = new Map<number, Promise<void>>();
  readonly #stop = new AbortController();
  readonly #cut = new AbortController();
  #wake = new AbortController();
  #problem: string | null = null;

  constructor(target: Target, parts: DeliverParts) {
    this.#target = target;
    this.#parts = parts;
  }

  get id(): string {
    return this.#target.id;
  }

  /** Why the latest try failed; null: it succeeded, or there was none. */
  get problem(): string | null {
    return this.#problem;
  }

  get counts(): DeliveryCounts {
    return this.#parts.store.counts(this.id);
  }

  /** To be called when the store has new deliveries. */
  wake(): void {
    this.#wake.abort();
  }

  /** Runs until `stop`. @throws PipelineError where the store can no longer be used. */
  async run(): Promise<void> {
    const { clock, logger } = this.#parts;
    while (!this.#stop.signal.aborted) {
      try {
        await this.#step();
      } catch (error) {
        if (!(error instanceof RetryableError)) throw error;
        const { code, message } = error;
        logger.warn("webhooks wait for the disk", { target: this.id, code, message });
        await clock.sleep(STORE_WAIT_MS, this.#stop.signal);
      }
    }
  }

  /** Waits for answers that are under way, but not for long: what is cut off is sent again. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.wake();
    const timer = setTimeout(() => this.#cut.abort(), END_MS);
    await Promise.allSettled(this.#sending.values());
    clearTimeout(timer);
  }

  async #step(): Promise<void> {
    this.#wake = new AbortController();
    this.#begin();
    const pause = this.#parts.clock.sleep(LOOK_EVERY_MS, this.#wake.signal);
    await Promise.race([pause, ...this.#sending.values()]);
  }

  #begin(): void {
    if (this.#sending.size >= PARALLEL_MAX) return;
    const { store, clock } = this.#parts;
    // Those that are being sent are due as well.
    for (const delivery of store.due(this.id, clock.nowMs(), 2 * PARALLEL_MAX)) {
      if (this.#sending.size >= PARALLEL_MAX) return;
      if (this.#sending.has(delivery.number)) continue;
      const sending = this.#send(delivery).finally(() => this.#sending.delete(delivery.number));
      this.#sending.set(delivery.number, sending);
    }
  }

  async #send(delivery: Delivery<NotifyEvent>): Promise<void> {
    const { url, allowPrivate, headers, secrets, contentType } = this.#target;
    const { clock, resolve, timeoutMs } = this.#parts;
    const body = this.#target.bodyOf(delivery.event);
    const signed = signWebhook({ id: delivery.event.id, body, nowMs: clock.nowMs() }, secrets);
    const outcome = await sendWebhook(
      {
        ...{ url, allowPrivate, body, timeoutMs, signal: this.#cut.signal },
        headers: { "user-agent": "callgate", ...headers, "content-type": contentType, ...signed },
      },
      resolve,
    );
    // The end cut the request off, which says nothing of the receiver.
    if (this.#cut.signal.aborted && !outcome.ok) return;
    this.#parts.check();
    if (outcome.ok) this.#succeeded(delivery);
    else this.#failed(delivery, outcome);
  }

  #succeeded(delivery: Delivery<NotifyEvent>): void {
    this.#parts.store.remove(delivery);
    this.#problem = null;
    this.#parts.count("sent", this.id, 1);
  }

  #failed(
    delivery: Delivery<NotifyEvent>,
    { problem, status, retryAfterMs }: Extract<WebhookOutcome, { ok: false }>,
  ): void {
    const { store, clock, logger, random, count } = this.#parts;
    const tries = delivery.tries + 1;
    const nowMs = clock.nowMs();
    const dueAtMs = nextTryMs({ tries, status, retryAfterMs }, nowMs, random);
    this.#problem = problem;
    count("failed", this.id, 1);
    const fields = { target: this.id, event: delivery.event.id, tries, problem };
    if (dueAtMs !== null) {
      store.postpone(delivery, dueAtMs, problem);
      logger.warn("a webhook was not delivered, and is tried again", {
        ...fields,
        inMs: dueAtMs - nowMs,
      });
      return;
    }
    const dropped = store.bury(delivery, nowMs, problem);
    if (dropped > 0) count("dropped", this.id, dropped);
    logger.error("a webhook was given up: callgate notify failed lists it", fields);
  }
}
