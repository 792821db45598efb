/**
 * Text from outside as it may stand on a terminal: one line, without control characters, which could
 * move the cursor or hide what was written.
 */
export function printable(text: string, charactersMax: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  const plain = text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]+/g, " ");
  const characters = [...plain];
  if (characters.length <= charactersMax) return plain;
  return `${characters.slice(0, charactersMax - 1).join("")}…`;
}
