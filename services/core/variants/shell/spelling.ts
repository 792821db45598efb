/** How the parts of a shell line are spelled. */

/** Variables that differ from call to call. */
export const MOMENT = new Set(["?", "!", "$", "_", "RANDOM", "SECONDS", "BASHPID", "EPOCHSECONDS"]);

/** Words that structure a line; what follows them is a command again. */
export const STRUCTURE = new Set("if then elif else fi while until do done ! { }".split(" "));

/** Words whose structure is not read. */
export const UNREAD = new Set(["case", "function", "select", "coproc"]);

/** The keyword `time` and its options: the next word is at the start of a command again. */
export const TIMED = new Set(["time", "-p", "--"]);

/** A text with an index that runs something, once a shell evaluates the text as an expression. */
export const RUNNING_INDEX = /\[[^\][]*(?:\$\(|`)/;

/** Sticky: the name of a variable. */
export const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
/** Sticky: an expansion in braces whose end all shells see in one place; first group: the name, which is never cut: without an end that takes the square of time. */
export const BRACED =
  /\$\{[#!]?([A-Za-z_]\w*(?!\w)|[?!$@*#_-]|\d+(?!\d))(?:[^{}`$()'"\\]|"[^{}`$()'"\\]*")*\}/y;
/** An option of which a part is not seen; the value of a long one is none. */
export const OPEN_OPTION = /^-(?!-[\w-]+=|v\w+=|[IC]?\{\}$)/;
/** How a word begins that sets a variable. */
export const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;
