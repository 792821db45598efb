import { FatalError } from "../runtime/errors.ts";

const EVENTS = ["uncaughtException", "unhandledRejection"] as const;

/**
 * Tells of the first error that nobody caught, thrown or rejected: a handler's, as a rule. Left to Node it would end the
 * process in the middle of what else is under way. What comes after it, on the way to an end in order, is ignored.
 *
 * @returns what gives such errors back to Node.
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

/** With where it was made: of a stray one that is all there is to find it by. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const frame = error.stack?.split("\n").find((line) => line.startsWith("    at "));
  return frame === undefined ? error.message : `${error.message} (${frame.trim()})`;
}
