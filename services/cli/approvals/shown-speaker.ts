/** The name of a person or an agent, in a sentence or a list. */
import { revealed, revealedJson } from "../output/revealed.ts";

const TEXT_CHARACTERS = 80;
const ONE_WORD = /^[\p{L}\p{M}\p{N}.@_+/-]+$/u;

/** Quotes everything but one plain word: "Zoë, Bob" is one name. */
export function shownSpeaker(name: string): string {
  if (ONE_WORD.test(name)) return revealed(name, TEXT_CHARACTERS);
  return revealedJson(JSON.stringify(name), TEXT_CHARACTERS);
}
