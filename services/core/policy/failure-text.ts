/**
 * Failures in text: tool servers often report an error as an ordinary output. The default patterns
 * look at the beginning of an output only, so that a result that merely mentions an error is not
 * taken for one.
 */

/** How many characters of an output the default patterns see. */
const LOOKED_AT = 2_000;

/** What servers write as or in `"error"` to say that there was none. */
const NOTHING = /null|false|0(?![.\d])|""|"(?:0|none|ok|success|no error)"|\{\s*\}|\[\s*\]/;

/** A code that reports success, with no member beside it that reports an error. */
const NO_CODE = `\\{(?=[^{}]*"(?:code|status)"\\s*:\\s*"?(?:0|ok|success)\\b)(?:[\\s,]*"\\w{1,64}"\\s*:\\s*(?:${NOTHING.source}))+\\s*\\}`;

/** The heading of a document about errors that a tool read. */
const HEADING =
  "error[ \\t]+(?:handling|handlers?|codes?|messages?|types?|pages?|budgets?|boundar(?:y|ies)|reporting)" +
  "(?:[ \\t]+(?:guide|guidelines|reference|overview|conventions|components?|docs|documentation))*[ \\t]*(?:\\r?\\n|$)";

const FAILED = new RegExp(
  `^\\s*(?!${HEADING})(?:\\{\\s*"error"\\s*:(?!\\s*(?:${NOTHING.source}|${NO_CODE}))|error(?![\\w-])|\\w{0,64}(?:error|exception):|traceback)`,
  "i",
);

/**
 * The digits of a status stand alone: they are no part of another number, no amount and no port.
 */
const NO_DIGITS_BEFORE = String.raw`(?<![\w$€£#]|\d[.,:])`;
const NO_DIGITS_AFTER = String.raw`(?![.,]?\d)\b`;

/**
 * Words that introduce a server's response, and those that may stand between them and the status.
 */
const ANSWER =
  "status|http\\S{0,9}|code|error|got|return(?:ed|s)|answer(?:ed|s)?|respon(?:ded|ds|se)|upstream|server|gateway";
const BETWEEN = String.raw`\W{0,4}(?:(?:with|by|from|was|is|an?|the|internal|unexpected)\W{1,4}){0,3}`;

/** Errors without a response, or with one from a proxy on the way. */
const NO_ANSWER: readonly RegExp[] = [
  /\b(?:rate.?limit(?: was| is| has been)?[ _-]?(?:exceeded|reached|hit|error)|rate.?limited|requests? (?:was |were )?throttled)/,
  /\b(?:overloaded_error|(?:server|service|model|system) (?:is )?(?:currently )?overloaded)\b/,
  /\b(?:too many requests|service unavailable|bad gateway|try again|temporar)/,
  /internal.?server.?error/,
  /\b(?:gateway time-?out|timed ?out|time out|deadline.?exceeded|abort(?:ed)?\b|AbortError|context cancell?ed)/,
  // The name of an argument is not a time-out.
  /(?<![`-]|\b(?:argument|parameter|option|field|property):?\s{1,3}["']?)timeout/,
  /\b(?:fetch failed|socket hang up|network error|premature close|other side closed|broken pipe)/,
  /\bconnection (?:was |has been |is )?(?:unexpectedly |forcibly )?(?:reset|closed|lost|dropped|aborted|terminated)/,
  /\b(?:reset|closed|lost|dropped|aborted|terminated|terminating) (?:the |its )?connection\b/,
  // Shells and parsers say this of the text that they were given.
  /\bunexpected (?:EOF|end of file)\b(?! while)/,
  /\bEOF\W{0,3}$/,
  /\b(?:ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT)\b/,
];

/**
 * Errors that may pass, or after which nobody knows whether the call ran. A proxy between the
 * caller and the tool answers with 502 and above, so there the number alone is enough; 500 counts
 * only where the text calls it a response: amounts and names have three digits, too.
 */
const TRANSIENT = new RegExp(
  [
    `${NO_DIGITS_BEFORE}(?:50[234]|52[0-4])${NO_DIGITS_AFTER}`,
    `(?:${ANSWER})${BETWEEN}(?:408|429|50[0234]|52[0-4])${NO_DIGITS_AFTER}`,
    `${NO_DIGITS_BEFORE}(?:408|429|500)${NO_DIGITS_AFTER}${BETWEEN}(?:${ANSWER})`,
    // A status before the thing it is about, which does not begin with a word: `500 rows` is a
    // count.
    `^\\W{0,4}(?:408|429|500)${NO_DIGITS_AFTER}(?!\\s+[a-z])`,
    ...NO_ANSWER.map(({ source }) => source),
  ].join("|"),
  "i",
);

const TRANSIENT_CODES =
  /^(?:408|429|50[0234]|52[0-4]|E(?:SOCKET)?TIMEDOUT|ECONNRESET|ECONNABORTED|EPIPE|ABORT_ERR|AbortError|UND_ERR_\w+|ERR_STREAM_PREMATURE_CLOSE|unavailable|resource_?exhausted|rate_?limit(?:ed|_?exceeded)|\w{0,64}(?:timeout|rate_?limit|overloaded|throttl(?:ed|ing)|deadline_?exceeded|internal_?server_?error|service_?unavailable|bad_?gateway|too_?many_?requests)(?:_?(?:error|exception))?)$/i;

export function looksFailedByDefault(output: string): boolean {
  return FAILED.test(output.length > LOOKED_AT ? output.slice(0, LOOKED_AT) : output);
}

/**
 * True where the same call may succeed later, or may have run: time-outs, 429 and its synonyms,
 * 5xx, and connections that ended before the response. An unreachable server (ECONNREFUSED,
 * ENOTFOUND) is definite.
 */
export function looksTransient(code: string | null, message: string): boolean {
  if (code !== null && TRANSIENT_CODES.test(code)) return true;
  return TRANSIENT.test(message.length > LOOKED_AT ? message.slice(0, LOOKED_AT) : message);
}
