/** Arithmetic: `((…))`, also behind a dollar, and `((…; …; …))` behind `for`. */

/** Numbers, names and operators; a blank between two names is in no expression. */
const LETTER =
  "[-\\w+*/%<>=!&|^~?:,]|[ \\t](?:(?![\\w$])|(?=[\\w$])(?<=[-+*/%<>=!&|^~?:,(;][ \\t]*))";
/** Expansions, substitutions with neither parentheses nor comments, indexes. */
const EXPANSION = "\\$#?(?![({])|\\$\\{[^{}]*\\}|\\$\\((?!\\()[^()#\\n\\\\`]*\\)|\\[[\\w$@*]*\\]";
const PART = `${LETTER}|${EXPANSION}`;
const EXPRESSION = `(?:${PART}|\\((?:${PART}|\\((?:${PART})*\\))*\\))*`;
const PLAIN = new RegExp(`\\(\\(${EXPRESSION}\\)\\)`, "y");
const OF_FOR = new RegExp(`\\(\\(${EXPRESSION}(?:;${EXPRESSION}){2}\\)\\)`, "y");

/** Quotes and the like mean other things in it, where shells disagree on its end. */
const WITHOUT_QUOTES = /\(\((?:(?!\)\))[^'"\\`#\n;])*\)\)/y;

/** Where `((…))` ends that is nothing else in any shell behind a dollar; 0: it may be groups as well; null: it is not read. */
export function endOfArithmetic(text: string, at: number): number | null {
  return endOf(PLAIN, text, at) ?? (endOf(WITHOUT_QUOTES, text, at) === null ? null : 0);
}

/** Where that of `for` ends; null: there is none. */
export function endOfForHead(text: string, at: number): number | null {
  return endOf(OF_FOR, text, at);
}

function endOf(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}
