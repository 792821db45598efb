/** How people, agents and rules are named to a person who decides. */
import type { RuleScope } from "../../core/events.ts";
import { revealed, revealedJson } from "../output/text.ts";

const TEXT_CHARACTERS = 80;
const ONE_WORD = /^[\p{L}\p{M}\p{N}.@_+/-]+$/u;

/** Quotes everything but one plain word: "Zoë, Bob" is one name. */
export function shownSpeaker(name: string): string {
  if (ONE_WORD.test(name)) return revealed(name, TEXT_CHARACTERS);
  return revealedJson(JSON.stringify(name), TEXT_CHARACTERS);
}

/** `of network, not of destroy` */
export function shownScope({ of, notOf }: RuleScope): string {
  const others = notOf.map((name) => revealed(name, TEXT_CHARACTERS));
  const not = others.length === 0 ? "" : `, not of ${others.join(", ")}`;
  return `of ${revealed(of, TEXT_CHARACTERS)}${not}`;
}
