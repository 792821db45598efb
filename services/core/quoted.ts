/** Texts as JSON prints them, where what is hashed does not fit or has more than ASCII. */

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

/** A list of texts as JSON prints it. */
export function quotedList(parts: readonly (string | null)[]): string {
  let text = "[";
  for (let at = 0; at < parts.length; at += 1) {
    text +=
      at === 0 ? quoted(parts[at] as string | null) : `,${quoted(parts[at] as string | null)}`;
  }
  return `${text}]`;
}

/** A text as JSON prints it; null is `null`. */
export function quoted(part: string | null): string {
  if (part === null) return "null";
  return isPlain(part) ? `"${part}"` : JSON.stringify(part);
}

/** Whether JSON prints the text as it is. Most parts are short: a loop tells sooner than a pattern. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const unit = charCodeAt.call(text, at);
    if (unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c) return false;
  }
  return true;
}
