/** All but tab and line feed. */
const CONTROL = /[\0-\x08\x0b-\x1f\x7f]/;

/**
 * True where keys of a terminal stand among a line's letters: what it deletes, interrupts or ends is
 * not what the text shows. Keys alone (an interrupt, an escape) are no line.
 */
export function hasControlLetters(text: string): boolean {
  return CONTROL.test(text) && /[^\0-\x20\x7f]/.test(text);
}
