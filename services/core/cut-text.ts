const HIGH_FIRST = 0xd800;
const HIGH_LAST = 0xdbff;

/**
 * At most `length` code units of a text, never half a surrogate pair: halves have no UTF-8, so that a
 * text with one is another text once it was written and read.
 */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return ownText(text.slice(0, last >= HIGH_FIRST && last <= HIGH_LAST ? length - 1 : length));
}

/** A part of a text refers to all of it for as long as it lives: 500 characters would keep 250 KB. */
function ownText(part: string): string {
  return ` ${part}`.slice(1);
}
