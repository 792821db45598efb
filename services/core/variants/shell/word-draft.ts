/** A word in the making; `raw` is its spelling in the line. */
export interface WordDraft {
  text: string;
  open: boolean;
  startsOpen: boolean;
  splits: boolean;
  raw: string;
}

/** The next character is only known when it runs. */
export function reveal(word: WordDraft): void {
  word.startsOpen ||= word.text === "" && !word.open;
  word.open = true;
}
