const EVERY_MS = 250;

/**
 * Keeps the process alive while somebody waits for an answer, and looks for answers that are overdue.
 * Neither the log nor the gate does: a gate that nobody waits for must not keep a program from ending.
 */
export class KeepAlive {
  readonly #look: () => void;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param look called every now and then while something is waited for. */
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

/** Runs an action to its end, whatever else the program has left to do. */
export async function runKeepingAlive<T>(action: () => Promise<T>): Promise<T> {
  const alive = setInterval(() => undefined, EVERY_MS);
  try {
    return await action();
  } finally {
    clearInterval(alive);
  }
}
