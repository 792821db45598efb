import type { CallAllowed } from "../core/events.ts";

/** More than the largest batch allows at once, twice over. */
const PLACES = 1_024;

/**
 * The keys that were made last: a gate makes one for the record that it writes, and the client in the
 * same process wants it for its answer a moment later, of the very same event and in the same order. Each
 * is told once; who asks for another, or too late, makes it anew. Events that nobody asks for stay here
 * until as many others have come.
 */
export class RecentKeys {
  readonly #events: (CallAllowed | undefined)[] = new Array(PLACES).fill(undefined);
  readonly #keys: string[] = new Array(PLACES).fill("");
  /** How many were put in, and how many of them nobody will ask for any more. */
  #made = 0;
  #passed = 0;

  put(event: CallAllowed, key: string): void {
    const place = this.#made % PLACES;
    this.#events[place] = event;
    this.#keys[place] = key;
    this.#made += 1;
    if (this.#made - this.#passed > PLACES) this.#passed = this.#made - PLACES;
  }

  take(event: CallAllowed): string | undefined {
    for (let at = this.#passed; at < this.#made; at += 1) {
      if (this.#events[at % PLACES] === event) return this.#taken(at);
    }
    return undefined;
  }

  /** Those before it were not asked for in their turn: nobody here waits for them. */
  #taken(at: number): string | undefined {
    for (let before = this.#passed; before <= at; before += 1) {
      this.#events[before % PLACES] = undefined;
    }
    this.#passed = at + 1;
    return this.#keys[at % PLACES];
  }
}
