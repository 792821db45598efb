import { cutText } from "./cut-text.ts";
import type { Decision } from "./decision.ts";
import { escapeHidden } from "./hidden-text.ts";
import { LIMITS } from "./limits.ts";

/** The first characters of a call's canonical arguments, as a refusal shows them to the model. */
export function shownArguments({ arguments: { text } }: Pick<Decision, "arguments">): string {
  return shownText(text);
}

export function shownText(text: string): string {
  return escapeHidden(cutText(text, LIMITS.shownArguments));
}
