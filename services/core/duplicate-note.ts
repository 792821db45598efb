/** The note beside the refusal of a duplicate: the gate writes it, and clients show it without the result. */

/** Every note begins so: by it a text that ends with a note is recognized. */
export const DUPLICATE_NOTE_START = "This tool call was already made";

const RESULT_START = ". Result was: ";

/** `where`: a clause; `shownResult`: the earlier output as the model may read it. */
export function writeDuplicateNote(where: string, shownResult: string): string {
  return `${DUPLICATE_NOTE_START} ${where} with identical arguments${RESULT_START}${shownResult}`;
}

/** The note as a sentence without its period. */
export function cutResult(note: string): string {
  const at = note.indexOf(RESULT_START);
  return at < 0 ? note : note.slice(0, at);
}
