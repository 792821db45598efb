/**
 * Marks an error: the call failed and certainly took no effect, so that it may run again as a new one.
 * Throw what it gives from a handler. Only say so where it is certain: a time-out is not.
 *
 * @returns the error itself, marked; where it cannot be marked, an `Error` with it as its cause.
 */
export function noEffect(error: unknown): Error {
  if (error instanceof Error && Object.isExtensible(error)) {
    Object.defineProperty(error, "callgateEffect", { value: "none", configurable: true });
    return error;
  }
  const message = error instanceof Error ? error.message : String(error);
  return Object.assign(new Error(message, { cause: error }), { callgateEffect: "none" });
}
