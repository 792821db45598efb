/**
 * Failures in disguise: tool servers hide errors in text. The default set looks at the beginning of
 * an output only, so that a result that merely mentions an error is not one.
 */

/** How far into an output the default set looks, in characters. */
const LOOKED_AT = 2_000;

/** What servers write after `"error":` to say that there was none. */
const NO_ERROR =
  /null|false|0(?![.\d])|""|"(?:0|none|ok|success|no error)"|\{\s*\}|\[\s*\]|\{\s*"(?:code|status)"\s*:\s*"?(?:0|ok|success)\b/;

const FAILED = new RegExp(
  `^\\s*(?:\\{\\s*"error"\\s*:(?!\\s*(?:${NO_ERROR.source}))|error(?![\\w-])|\\w{0,64}(?:error|exception):|traceback)`,
  "i",
);

/**
 * Whether it ran is not known, or it may pass. A number is a status only where it is called one: amounts and
 * names have three digits, too.
 */
const TRANSIENT = new RegExp(
  [
    /(?:^|status|http\S{0,9}|code|error)\W{0,4}(?:408|429|50[0234])(?![.,]?\d)\b/,
    /\b(?:too many requests|service unavailable|bad gateway|internal server error|try again|temporar)/,
    /\b(?:gateway time-?out|timed? ?out|deadline.?exceeded|abort(?:ed)?\b)/,
    /\b(?:fetch failed|socket hang up|network error|premature close|other side closed|broken pipe)/,
    /\bconnection (?:was |has been |is )?(?:reset|closed|lost|aborted|terminated)/,
    /\b(?:ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT)\b/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "i",
);

const TRANSIENT_CODES =
  /^(?:408|429|50[0234]|E(?:SOCKET)?TIMEDOUT|ECONNRESET|ECONNABORTED|EPIPE|ABORT_ERR|UND_ERR_\w+|ERR_STREAM_PREMATURE_CLOSE|timeout|deadline_exceeded|unavailable)$/i;

export function looksFailedByDefault(output: string): boolean {
  return FAILED.test(output.length > LOOKED_AT ? output.slice(0, LOOKED_AT) : output);
}

/**
 * True where the same call may well succeed later, or may have run: time-outs, 429, 5xx, and connections that
 * ended before the answer. That nothing was reached (ECONNREFUSED, ENOTFOUND) is definite.
 */
export function looksTransient(code: string | null, message: string): boolean {
  if (code !== null && TRANSIENT_CODES.test(code)) return true;
  return TRANSIENT.test(message.length > LOOKED_AT ? message.slice(0, LOOKED_AT) : message);
}
