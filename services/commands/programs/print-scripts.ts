/**
 * Scripts of sed, awk and jq that do nothing but print what they read, changed or not. sed and awk can
 * write files and run programs, so a script with anything else than the forms below is not understood.
 */

const ESCAPED = "\\\\[^\\n]";
const SED_REGEXP = `\\/(?:[^/\\\\\\n]|${ESCAPED})*\\/`;
const SED_ADDRESS = `(?:\\d+|\\$|${SED_REGEXP})`;
const SED_RANGE = `(?:${SED_ADDRESS}(?:[,~](?:\\+\\d+|${SED_ADDRESS}))? ?!?)?`;
/** `s/from/to/g` with one of four usual delimiters, and neither `w` nor `e` after it. */
const SED_SUBSTITUTE = ["/", "\\|", "#", ","]
  .map((end) => `s${end}(?:(?:[^${end}\\\\\\n]|${ESCAPED})*${end}){2}[gIip\\d]*`)
  .join("|");
const SED_COMMAND = `${SED_RANGE}(?:[pdq=]|${SED_SUBSTITUTE})`;
/** `a`, `i` and `c` take the rest of the line as text. */
const SED_TEXT = `${SED_RANGE}[aic](?:\\\\|[ \\t])[^\\n]*[^\\\\\\n]`;
const SED_PRINT = new RegExp(
  `^ ?(?:${SED_COMMAND}(?: ?; ?${SED_COMMAND})*(?: ?; ?${SED_TEXT})?|${SED_TEXT}) ?;?$`,
);

const AWK_STRING = '"(?:[^"\\\\\\n]|\\\\[^\\n])*"';
/** No brace, quote or `>` inside: the slash might be a division, and the rest an action. */
const AWK_REGEXP = '\\/[^/\\\\\\n{}"|>(]*\\/';
const AWK_PATTERN = `(?:[\\w\\s$.,;=!<>~&+*%-]|\\|\\||${AWK_STRING}|${AWK_REGEXP})*`;
/** No redirection, no pipe, no call. */
const AWK_ACTION = `\\{(?:[\\w\\s$.,;=+*%:?-]|${AWK_STRING})*\\}`;
const AWK_PRINT = new RegExp(`^(?:${AWK_PATTERN}${AWK_ACTION})*${AWK_PATTERN}$`);
const AWK_FOREIGN = /getline|system|close|fflush/;

/** `1,20p`, `/text/d`, `s/a/b/g`, `5a text`, several joined by `;`. */
export const isSedPrint = (script: string): boolean => SED_PRINT.test(script);

/** `{print $1}`, `NR>5 && /x/ {s += $2} END {print s}`. */
export const isAwkPrint = (script: string): boolean =>
  AWK_PRINT.test(script) && !AWK_FOREIGN.test(script);

/** The environment holds secrets, and modules are files. `.env` is a field. */
const JQ_FOREIGN = /(?<![.\w$])env\b|\$ENV|\b(?:import|include|modulemeta)\b/;

export const isJqFilter = (filter: string): boolean => !JQ_FOREIGN.test(filter);
