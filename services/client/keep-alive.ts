const EVERY_MS = 250;

/**
 * Keeps the process alive while somebody waits for an answer, and checks for overdue answers.
 * Neither the log nor the gate does so, because a gate that nobody waits for must not keep a
 * program from ending.
 */
export class KeepAlive {
  readonly #look: () => void;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param look called at intervals while somebody waits. */
  constructor(look: () => void) {
    this.#look = look;
  }

  begin(): void {
    this.#waiting += 1;
    this.#timer ??= setInterval(this.#look, EVERY_MS);
  }

  end(): void {
    this.#waiting -= 1;
    if (this.#waiting > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** Runs an action and keeps the process alive until it ends. */
export async function runKeepingAlive<T>(action: () => Promise<T>): Promise<T> {
  const alive = setInterval(() => undefined, EVERY_MS);
  try {
    return await action();
  } finally {
    clearInterval(alive);
  }
}
