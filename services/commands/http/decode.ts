const PERCENT = /^%[0-7][\da-f]$/i;
const UNICODE = /^\\u00[0-7][\da-f]$/i;
const PERCENT_LENGTH = 3;
const UNICODE_LENGTH = 6;

/**
 * Decodes ASCII that URLs (`%5f`) or JSON (`\u005f`) encode until nothing is left to decode: what a
 * decoded character completes (`%255f`) is decoded as well. Time is linear in the text.
 */
export function decodeFully(text: string): string {
  if (!/%|\\u/i.test(text)) return text;
  const letters: string[] = [];
  for (const letter of text) {
    letters.push(letter);
    while (
      decodeEnd(letters, "%", PERCENT_LENGTH, PERCENT) ||
      decodeEnd(letters, "\\", UNICODE_LENGTH, UNICODE)
    );
  }
  return letters.join("");
}

/** Whether the last letters were a code; if so, the encoded letter replaces them. */
function decodeEnd(letters: string[], first: string, length: number, code: RegExp): boolean {
  if (letters[letters.length - length] !== first) return false;
  const end = letters.slice(-length).join("");
  if (!code.test(end)) return false;
  letters.length -= length;
  letters.push(String.fromCharCode(Number.parseInt(end.slice(-2), 16)));
  return true;
}
