import { escapeHidden } from "../../core/hidden-text.ts";

/** Several lines are shown as one. */
const LINE_BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;

/** Text from outside as it may stand on a terminal: one line, what nobody sees written out. Where a person judges by it: `revealed`. */
export function printable(text: string, charactersMax: number): string {
  const plain = escapeHidden(text.replaceAll(LINE_BREAKS, " "));
  const characters = [...plain];
  if (characters.length <= charactersMax) return plain;
  return `${characters.slice(0, charactersMax - 1).join("")}…`;
}
