/**
 * Thrown inside this folder alone: the line has something that is not understood. `parseLine`
 * catches it.
 */
export class NotPlain extends Error {
  constructor(what: string, at: { readonly pos: number }, text?: string) {
    super(`${what}${text === undefined ? "" : ` ${quote(text)}`} at character ${at.pos + 1}`);
  }
}

const QUOTED_MAX = 40;

/** Makes a text safe to show: no control characters, no marks that reverse text, no backticks. */
function quote(text: string): string {
  const cut = text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text;
  return `"${cut.replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, " ").replaceAll("`", "'")}"`;
}
