/**
 * Failures in disguise: tool servers hide errors in text. The default set looks at the beginning of
 * an output only, so that a result that merely mentions an error is not one.
 */

/** How far into an output the default set looks, in characters. */
const LOOKED_AT = 2_000;

/** `{"error": null, …}` is how many servers say that there was none. */
const FAILED =
  /^\s*(?:\{\s*"error"\s*:(?!\s*(?:null|false|""|\{\s*\}|\[\s*\]))|error\b|\w{0,64}(?:error|exception):|traceback)/i;

const TRANSIENT =
  /\b(?:408|429|50[0234]|too many requests|service unavailable|bad gateway|gateway time-?out|timed? ?out|try again|temporar)/i;

const TRANSIENT_CODES = new Set(["408", "429", "500", "502", "503", "504", "ETIMEDOUT", "timeout"]);

export function looksFailedByDefault(output: string): boolean {
  return FAILED.test(output.length > LOOKED_AT ? output.slice(0, LOOKED_AT) : output);
}

/** True where the same call may well succeed later: time-outs, 429, 5xx. */
export function looksTransient(code: string | null, message: string): boolean {
  if (code !== null && TRANSIENT_CODES.has(code)) return true;
  return TRANSIENT.test(message.length > LOOKED_AT ? message.slice(0, LOOKED_AT) : message);
}
