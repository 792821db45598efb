/**
 * Names of tools, as rules see them.
 *
 * NAME-1 a name is normalized before any rule sees it: NFKC, so that a full-width letter is the
 * letter; then printable ASCII without a space at its edges and without a backtick. Any other text
 * names no tool.
 * NAME-2 two names are alike where they differ by case and separators alone.
 */
import { LIMITS } from "./limits.ts";

export type ReadName =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: false; readonly problem: string };

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

const SPACE = 0x20;
const BACKTICK = 0x60;
const TILDE = 0x7e;

const RULE = `\`tool\` must be 1 to ${LIMITS.toolNameLength} printable ASCII characters after NFKC, without a backtick`;
const EDGE = "`tool` must not begin or end with a blank";

/**
 * NAME-1. `problem` says why the text names no tool. Total: callers without types may pass
 * anything.
 */
export function readToolName(text: unknown): ReadName {
  if (typeof text !== "string" || text.length > LIMITS.toolNameLength) {
    return { ok: false, problem: RULE };
  }
  const name = isPrintable(text) ? text : text.normalize("NFKC");
  if (name.length > LIMITS.toolNameLength || !isPrintable(name))
    return { ok: false, problem: RULE };
  if (name.startsWith(" ") || name.endsWith(" ")) return { ok: false, problem: EDGE };
  return { ok: true, name };
}

/**
 * A loop, because this runs for each call: on so short a text it ends before a pattern has begun.
 */
function isPrintable(text: string): boolean {
  if (text.length === 0) return false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = charCodeAt.call(text, at);
    if (unit < SPACE || unit > TILDE || unit === BACKTICK) return false;
  }
  return true;
}

/** NAME-2: equal for names that are alike. */
export function likenessOf(name: string): string {
  return name.toLowerCase().replaceAll(/[\s/.:_-]+/g, "");
}

const SHOWN_CHARACTERS = 64;

/** A text that names no tool, made safe for a refusal. */
export function shownTool(text: string): string {
  return text.slice(0, SHOWN_CHARACTERS).replaceAll(/[^ -_a-~]/g, "?");
}
