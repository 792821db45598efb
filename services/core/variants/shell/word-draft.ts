/** A word in the making; `raw` is its spelling in the line. */
export interface WordDraft {
  text: string;
  open: boolean;
  startsOpen: boolean;
  splits: boolean;
  streams: boolean;
  raw: string;
}

export function emptyWord(): WordDraft {
  return { text: "", open: false, startsOpen: false, splits: false, streams: false, raw: "" };
}

/** The next character is only known when it runs. */
export function reveal(word: WordDraft): void {
  word.startsOpen ||= word.text === "" && !word.open;
  word.open = true;
}
