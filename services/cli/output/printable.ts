/** Control characters and those that only format: they could move the cursor, turn text round, or be seen by nobody. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]+/gu;

/** Text from outside as it may stand on a terminal: one line, without what could hide what was written. Where a person judges by it: `revealed`. */
export function printable(text: string, charactersMax: number): string {
  const plain = text.replaceAll(UNSEEN, " ");
  const characters = [...plain];
  if (characters.length <= charactersMax) return plain;
  return `${characters.slice(0, charactersMax - 1).join("")}…`;
}
