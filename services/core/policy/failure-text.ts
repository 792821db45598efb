/**
 * Failures in disguise: tool servers hide errors in text. The default set looks at the beginning of
 * an output only, so that a result that merely mentions an error is not one.
 */

/** How far into an output the default set looks, in characters. */
const LOOKED_AT = 2_000;

/** What servers write after `"error":`, or in a member of it, to say that there was none. */
const NOTHING = /null|false|0(?![.\d])|""|"(?:0|none|ok|success|no error)"|\{\s*\}|\[\s*\]/;

/** A code of no error, beside which nothing stands that tells of one. */
const NO_CODE = `\\{(?=[^{}]*"(?:code|status)"\\s*:\\s*"?(?:0|ok|success)\\b)(?:[\\s,]*"\\w{1,64}"\\s*:\\s*(?:${NOTHING.source}))+\\s*\\}`;

/** The heading of a text about errors that somebody read. */
const HEADING =
  "error[ \\t]+(?:handling|handlers?|codes?|messages?|types?|pages?|budgets?|boundar(?:y|ies)|reporting)" +
  "(?:[ \\t]+(?:guide|guidelines|reference|overview|conventions|components?|docs|documentation))*[ \\t]*(?:\\r?\\n|$)";

const FAILED = new RegExp(
  `^\\s*(?!${HEADING})(?:\\{\\s*"error"\\s*:(?!\\s*(?:${NOTHING.source}|${NO_CODE}))|error(?![\\w-])|\\w{0,64}(?:error|exception):|traceback)`,
  "i",
);

/** What a number is that is a status: no part of another, no amount, no port. */
const NO_DIGITS_BEFORE = String.raw`(?<![\w$€£#]|\d[.,:])`;
const NO_DIGITS_AFTER = String.raw`(?![.,]?\d)\b`;

/** Words of one who tells what was answered, and those that may stand between them and the status. */
const ANSWER =
  "status|http\\S{0,9}|code|error|got|return(?:ed|s)|answer(?:ed|s)?|respon(?:ded|ds|se)|upstream|server|gateway";
const BETWEEN = String.raw`\W{0,4}(?:(?:with|by|from|was|is|an?|the|internal|unexpected)\W{1,4}){0,3}`;

/** Where there is no answer, or one of somebody on the way. */
const NO_ANSWER: readonly RegExp[] = [
  /\b(?:rate.?limit(?: was| is| has been)?[ _-]?(?:exceeded|reached|hit|error)|rate.?limited|requests? (?:was |were )?throttled)/,
  /\b(?:overloaded_error|(?:server|service|model|system) (?:is )?(?:currently )?overloaded)\b/,
  /\b(?:too many requests|service unavailable|bad gateway|try again|temporar)/,
  /internal.?server.?error/,
  /\b(?:gateway time-?out|timed ?out|time out|deadline.?exceeded|abort(?:ed)?\b|AbortError|context cancell?ed)/,
  // The name of an argument is none.
  /(?<![`-]|\b(?:argument|parameter|option|field|property):?\s{1,3}["']?)timeout/,
  /\b(?:fetch failed|socket hang up|network error|premature close|other side closed|broken pipe)/,
  /\bconnection (?:was |has been |is )?(?:unexpectedly |forcibly )?(?:reset|closed|lost|dropped|aborted|terminated)/,
  /\b(?:reset|closed|lost|dropped|aborted|terminated|terminating) (?:the |its )?connection\b/,
  // Shells and parsers speak of the text that they were given.
  /\bunexpected (?:EOF|end of file)\b(?! while)/,
  /\bEOF\W{0,3}$/,
  /\b(?:ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT)\b/,
];

/**
 * Whether it ran is not known, or it may pass. What only stands between the caller and the tool answers with 502
 * and above, so the number alone is enough; 500 is one only where it is called an answer: amounts and names have three
 * digits, too.
 */
const TRANSIENT = new RegExp(
  [
    `${NO_DIGITS_BEFORE}(?:50[234]|52[0-4])${NO_DIGITS_AFTER}`,
    `(?:${ANSWER})${BETWEEN}(?:408|429|50[0234]|52[0-4])${NO_DIGITS_AFTER}`,
    `${NO_DIGITS_BEFORE}(?:408|429|500)${NO_DIGITS_AFTER}${BETWEEN}(?:${ANSWER})`,
    // A status before what it is about, which begins with no word: `500 rows` are a count.
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
 * True where the same call may well succeed later, or may have run: time-outs, 429 and other words for it, 5xx, and connections that
 * ended before the answer. That nothing was reached (ECONNREFUSED, ENOTFOUND) is definite.
 */
export function looksTransient(code: string | null, message: string): boolean {
  if (code !== null && TRANSIENT_CODES.test(code)) return true;
  return TRANSIENT.test(message.length > LOOKED_AT ? message.slice(0, LOOKED_AT) : message);
}
