import { FatalError } from "../../runtime/errors.ts";
import type { Logger } from "../../runtime/ports.ts";

export type PartitionWatchContext = {
  /** Partitions of each topic, by its name. */
  readonly count: () => Promise<ReadonlyMap<string, number>>;
  /** What they were when the gate started. */
  readonly expected: ReadonlyMap<string, number>;
  readonly everyMs: number;
  readonly logger: Logger;
  /** Told once. */
  readonly onChanged: (error: FatalError) => void;
};

/**
 * Sees when partitions are added (K9). From that moment keys go elsewhere than the state of their
 * conversations is, so whoever runs the gate must end.
 */
export class PartitionWatch {
  readonly #context: PartitionWatchContext;
  readonly #timer: NodeJS.Timeout;
  #asking = false;

  constructor(context: PartitionWatchContext) {
    this.#context = context;
    this.#timer = setInterval(() => void this.#look(), context.everyMs).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    try {
      const counts = await this.#context.count();
      const changed = [...this.#context.expected].find(
        ([name, before]) => (counts.get(name) ?? before) !== before,
      );
      if (changed !== undefined) this.#tell(changed[0], changed[1], counts.get(changed[0]) ?? 0);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#context.logger.debug("the partitions could not be counted", { message });
    } finally {
      this.#asking = false;
    }
  }

  #tell(name: string, before: number, now: number): void {
    this.close();
    this.#context.onChanged(
      new FatalError(
        "log_mismatch",
        `\`${name}\` had ${before} partitions and has ${now}: conversations would go to partitions ` +
          "without their state. Nothing is decided any more; make all topics anew with the same " +
          "number of partitions under another prefix",
        { context: { before, now } },
      ),
    );
  }
}
