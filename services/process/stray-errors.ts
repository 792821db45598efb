import { FatalError } from "../runtime/errors.ts";

const EVENTS = ["uncaughtException", "unhandledRejection"] as const;

/**
 * Reports the first error that nobody caught, thrown or rejected; usually it comes from a handler.
 * Node's default would end the process in the middle of its other work. Later errors, during the
 * shutdown, are ignored.
 *
 * @returns a function that restores Node's default.
 */
export function onStrayError(tell: (error: FatalError) => void): () => void {
  let isReported = false;
  const stray = (error: unknown): void => {
    if (isReported) return;
    isReported = true;
    const text = `nobody caught an error: ${textOf(error)}`;
    tell(new FatalError("unexpected", text, { cause: error }));
  };
  for (const name of EVENTS) process.on(name, stray);
  return () => {
    for (const name of EVENTS) process.off(name, stray);
  };
}

/** With the stack: for a stray error it is the only way to find its source. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const frame = error.stack?.split("\n").find((line) => line.startsWith("    at "));
  return frame === undefined ? error.message : `${error.message} (${frame.trim()})`;
}
