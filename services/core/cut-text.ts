const HIGH_FIRST = 0xd800;
const HIGH_LAST = 0xdbff;

/**
 * At most `length` code units of a text, and never half a surrogate pair: a half has no UTF-8 form,
 * so a text with one would change when it is written and read back.
 */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return ownText(text.slice(0, last >= HIGH_FIRST && last <= HIGH_LAST ? length - 1 : length));
}

/**
 * Copies a part of a text. A part refers to the whole text for as long as it lives: 500 characters
 * would retain 250 KB.
 */
function ownText(part: string): string {
  return ` ${part}`.slice(1);
}
