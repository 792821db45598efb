/**
 * Handlers that are generators: they act while somebody reads them.
 *
 * STREAM-1 the call ends when its generator ends; its output is the return value, or else the last
 *   value yielded.
 * STREAM-2 a generator whose reader closes it early may have taken effect: `GeneratorClosedError`.
 * STREAM-3 the reader sees the end only after it is recorded.
 */
type Source = {
  readonly next: (input?: unknown) => Step | Promise<Step>;
  readonly return?: (value?: unknown) => unknown;
  readonly throw?: (error: unknown) => Step | Promise<Step>;
};

type Step = { readonly done?: boolean; readonly value: unknown };

/** The reader stopped before the end, so nobody knows how far the tool came. */
export class GeneratorClosedError extends Error {
  override readonly name = "GeneratorClosedError";

  constructor() {
    super("its generator was closed before its end");
  }
}

/** Whether the value is an iterator that runs as it is read, however it was made. */
export function isGenerator(value: unknown): value is Source {
  if (typeof value !== "object" || value === null) return false;
  try {
    const { next } = value as { readonly next?: unknown };
    return (
      typeof next === "function" && (Symbol.asyncIterator in value || Symbol.iterator in value)
    );
  } catch {
    // A revoked proxy throws on every access.
    return false;
  }
}

export function isGeneratorClosed(error: unknown): error is GeneratorClosedError {
  try {
    return error instanceof GeneratorClosedError;
  } catch {
    return false;
  }
}

/**
 * Reads the generator to its end and discards what it yields. @throws what the generator throws;
 * the signal's reason.
 */
export async function readToEnd(source: Source, signal: AbortSignal): Promise<unknown> {
  let last: unknown;
  for (;;) {
    const step = await source.next();
    if (step.done === true) return step.value ?? last;
    last = await step.value;
    if (!signal.aborted) continue;
    await source.return?.();
    throw signal.reason;
  }
}

export type PassedOn = {
  /** For the reader: yields what the source yields, as it comes. */
  readonly stream: AsyncGenerator<unknown, unknown, unknown>;
  /**
   * The source's final value. Rejects with what the source threw, `GeneratorClosedError`, or the
   * signal's reason.
   */
  readonly ended: Promise<unknown>;
};

/**
 * @param recorded awaited before the reader sees the end; its rejection is thrown to the reader.
 */
export function passOn(
  source: Source,
  signal: AbortSignal,
  recorded: () => Promise<unknown>,
): PassedOn {
  const reading = new Reading(source, signal, recorded);
  const stream = {
    next: (input: unknown) => reading.step(() => source.next(input)),
    throw: (error: unknown) =>
      reading.step(() => {
        if (source.throw === undefined) throw error;
        return source.throw(error);
      }),
    return: (value: unknown) => reading.close(value),
    [Symbol.asyncIterator]: () => stream,
  } as unknown as PassedOn["stream"];
  return { stream, ended: reading.ended };
}

class Reading {
  readonly ended: Promise<unknown>;
  readonly #source: Source;
  readonly #signal: AbortSignal;
  readonly #recorded: () => Promise<unknown>;
  #succeed: (value: unknown) => void = () => undefined;
  #fail: (error: unknown) => void = () => undefined;
  #isOver = false;
  #pending = 0;
  #last: unknown;

  constructor(source: Source, signal: AbortSignal, recorded: () => Promise<unknown>) {
    this.#source = source;
    this.#signal = signal;
    this.#recorded = recorded;
    this.ended = new Promise((resolve, reject) => {
      this.#succeed = resolve;
      this.#fail = reject;
    });
    signal.addEventListener("abort", () => this.#abort(), { once: true });
  }

  async step(run: () => Step | Promise<Step>): Promise<Step> {
    if (this.#isOver) return { done: true, value: undefined };
    const step = this.#run(run);
    // The source may continue by itself; its end counts even if everybody has given up.
    step.catch(() => undefined);
    await Promise.race([step, abortOf(this.#signal)]);
    if (this.#signal.aborted && this.#pending > 0) {
      await this.#recorded();
      throw this.#signal.reason;
    }
    return await step;
  }

  /** The reader wants no more values. */
  async close(value: unknown): Promise<Step> {
    if (!this.#isOver) {
      this.#isOver = true;
      this.#fail(new GeneratorClosedError());
      await this.#stop();
      await this.#recorded().catch(() => undefined);
    }
    return { done: true, value };
  }

  async #run(run: () => Step | Promise<Step>): Promise<Step> {
    this.#pending += 1;
    let step: Step;
    try {
      const came = await run();
      step = { done: came.done === true, value: await came.value };
    } catch (error) {
      this.#isOver = true;
      this.#fail(error);
      await this.#recorded();
      throw error;
    } finally {
      this.#pending -= 1;
    }
    if (step.done === true) {
      this.#isOver = true;
      this.#succeed(step.value ?? this.#last);
      await this.#recorded();
      return step;
    }
    this.#last = step.value;
    if (this.#signal.aborted) this.#abort();
    return step;
  }

  #abort(): void {
    if (this.#isOver || this.#pending > 0) return;
    this.#isOver = true;
    this.#fail(this.#signal.reason);
    void this.#stop();
  }

  async #stop(): Promise<void> {
    try {
      await this.#source.return?.();
    } catch {
      // The source was given up: what it throws while it stops changes nothing.
    }
  }
}

function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/**
 * Whether a handler is a generator function, without calling it: frameworks check whether they can
 * iterate the answer.
 */
export function isGeneratorFunction(handler: unknown): boolean {
  const tag = Object.prototype.toString.call(handler);
  return tag === "[object AsyncGeneratorFunction]" || tag === "[object GeneratorFunction]";
}

/**
 * Makes the promise iterable as well: it yields what the generator yields; a call that does not run
 * yields its refusal.
 */
export function readableAnswer(
  answer: Promise<unknown>,
): Promise<unknown> & AsyncIterable<unknown> {
  return Object.assign(answer, { [Symbol.asyncIterator]: () => readAnswer(answer) });
}

function readAnswer(answer: Promise<unknown>): AsyncIterator<unknown> {
  const source = answer.then((value) =>
    isGenerator(value) ? (value as unknown as AsyncGenerator<unknown>) : single(value),
  );
  return {
    next: async (...input) => (await source).next(...input),
    return: async (value) => (await source).return(value),
    throw: async (error) => (await source).throw(error),
  };
}

async function* single(value: unknown): AsyncGenerator<unknown> {
  yield value;
}
