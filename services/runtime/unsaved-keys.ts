/** Keys of conversations that changed since somebody saved them, removed ones among them. */
export class UnsavedKeys {
  #keys = new Set<string>();
  #isStopped = false;

  get size(): number {
    return this.#keys.size;
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  add(key: string): void {
    if (!this.#isStopped) this.#keys.add(key);
  }

  /** Nobody saves: what changes is not noted any more. */
  stop(): void {
    this.#isStopped = true;
    this.#keys.clear();
  }

  /** The keys since the last call. */
  take(): ReadonlySet<string> {
    const keys = this.#keys;
    this.#keys = new Set();
    return keys;
  }

  /** The keys now, in the order of their first change. */
  list(): readonly string[] {
    return [...this.#keys];
  }

  /** To be called for a key whose newest version was saved. */
  delete(key: string): void {
    this.#keys.delete(key);
  }

  /** Gives back keys that were taken and that were not saved. */
  giveBack(keys: ReadonlySet<string>): void {
    for (const key of keys) this.#keys.add(key);
  }
}
