/** Bodies of here-documents: where they end, and whether anything in them may run. */

export interface Heredoc {
  readonly delimiter: string;
  readonly quoted: boolean;
  /** Tabs before its lines do not count. */
  readonly tabs: boolean;
}

/** Where a body stands. */
interface Body {
  readonly from: number;
  readonly to: number;
}

/** Of the bodies that begin at `from`, those that may have substitutions, which run, and where the text goes on after all; null: that cannot be told. */
export function bodiesAt(
  text: string,
  from: number,
  heredocs: readonly Heredoc[],
): { readonly run: readonly Body[]; readonly end: number } | null {
  const run: Body[] = [];
  let at = from;
  for (const heredoc of heredocs) {
    const found = endOfBody(text, at, heredoc);
    if (found === null) return null;
    const { to, end } = found;
    if (!heredoc.quoted && substitutes(joined(text, at, to))) run.push({ from: at, to });
    at = end;
  }
  return { run, end: at };
}

/** Those of arithmetic without commands and of variables do not matter here, but that their values may be run. */
function substitutes(body: string): boolean {
  return /`|\$\(/.test(body) || body.split("}").some(mayRunValue);
}

/** `${name@P}`, up to its end: one search for each end takes no more time than the text has characters. */
function mayRunValue(text: string): boolean {
  const from = text.indexOf("${");
  return from >= 0 && /@[A-Za-z]/.test(text.slice(from));
}

/** In one line what is written on several. */
function joined(text: string, from: number, to: number): string {
  return text.slice(from, to).replaceAll(/\\\n\t*/g, "");
}

/** `to`: where its last line begins, which is the delimiter. */
function endOfBody(
  text: string,
  from: number,
  heredoc: Heredoc,
): { readonly to: number; readonly end: number } | null {
  const { delimiter, quoted, tabs } = heredoc;
  for (let at = from; at < text.length; ) {
    const end = endOfLine(text, at, !quoted);
    const line = text.slice(at, end);
    const to = at;
    at = Math.min(end + 1, text.length);
    const read = quoted ? line : line.replaceAll("\\\n", "");
    const bare = tabs ? read.replace(/^\t+/, "") : read;
    // Shells disagree whether a delimiter may be written on two lines.
    if (bare === delimiter) return read === line ? { to, end: at } : null;
  }
  return null;
}

/** A backslash at the end joins a line to the next one, where the delimiter has no quotes. */
function endOfLine(text: string, from: number, joins: boolean): number {
  let at = from;
  for (;;) {
    const feed = text.indexOf("\n", at);
    if (feed < 0) return text.length;
    let slashes = 0;
    while (feed - slashes > from && text.charAt(feed - slashes - 1) === "\\") slashes += 1;
    if (!joins || slashes % 2 === 0) return feed;
    at = feed + 1;
  }
}
