/** Bodies of here-documents: where they end, and whether anything in them would run. */

export interface Heredoc {
  readonly delimiter: string;
  readonly quoted: boolean;
  /** Tabs before its lines do not count. */
  readonly tabs: boolean;
}

/** Where the text goes on after the bodies that begin at `from`; null: that cannot be told. */
export function endOfBodies(
  text: string,
  from: number,
  heredocs: readonly Heredoc[],
): number | null {
  let at: number | null = from;
  for (const heredoc of heredocs) {
    if (at === null) break;
    at = endOfBody(text, at, heredoc);
  }
  return at;
}

function endOfBody(text: string, from: number, heredoc: Heredoc): number | null {
  const { delimiter, quoted, tabs } = heredoc;
  for (let at = from; at < text.length; ) {
    const end = endOfLine(text, at, !quoted);
    const line = text.slice(at, end);
    at = Math.min(end + 1, text.length);
    const read = quoted ? line : line.replaceAll("\\\n", "");
    const bare = tabs ? read.replace(/^\t+/, "") : read;
    // Shells disagree whether a delimiter may be written on two lines.
    if (bare === delimiter) return read === line ? at : null;
    // Substitutions in a body would run; those of arithmetic and variables do not matter here.
    if (!quoted && /`|\$\(/.test(read)) return null;
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
