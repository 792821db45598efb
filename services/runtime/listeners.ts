import type { Logger } from "./ports.ts";

/**
 * Listeners to one kind of event. An error of one listener reaches neither the other listeners nor
 * the caller.
 */
export class Listeners<T> {
  readonly #listeners = new Set<(news: T) => void>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  /** Returns a function that removes the listener. */
  add(listener: (news: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(news: T): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(news);
      } catch (error) {
        this.#logger.error("a listener threw", {
          message: error instanceof Error ? error.message : String(error),
        });
      }
    }
  }
}
