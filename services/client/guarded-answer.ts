/** What a guarded generator function gives: awaited, or read at once. */
import { isGenerator } from "./drive-generator.ts";

/** Generator functions are known before they are called: frameworks look whether they can iterate. */
export function isGeneratorFunction(handler: unknown): boolean {
  const tag = Object.prototype.toString.call(handler);
  return tag === "[object AsyncGeneratorFunction]" || tag === "[object GeneratorFunction]";
}

/** The promise, which can also be iterated: what the generator yields; a call that does not run yields its refusal. */
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
