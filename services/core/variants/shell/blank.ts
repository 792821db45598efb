/** Where the text goes on behind white space, line continuations and comments; a line feed is none of these. */
export function afterBlank(text: string, from: number): number {
  let at = from;
  for (;;) {
    const next = text.charAt(at);
    if (next === " " || next === "\t" || next === "\r") at += 1;
    else if (next === "\\" && text.charAt(at + 1) === "\n") at += 2;
    else if (next === "#" && isWordStart(text, at)) {
      const end = text.indexOf("\n", at);
      at = end < 0 ? text.length : end;
    } else return at;
  }
}

function isWordStart(text: string, at: number): boolean {
  return at === 0 || /[\s;&|()`]/.test(text.charAt(at - 1));
}
