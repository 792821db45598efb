/** Colours, or none of them: on a terminal alone, and not where NO_COLOR is set. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly waiting: (text: string) => string;
}

const ESC = "\u001b[";
const BOLD = [1, 22] as const;
const DIM = [2, 22] as const;
const GREEN = [32, 39] as const;
const RED = [31, 39] as const;
const YELLOW = [33, 39] as const;

/** All that a style puts around a text. */
export const STYLE_CODES: readonly string[] = [
  ...new Set([BOLD, DIM, GREEN, RED, YELLOW].flat()),
].map((code) => `${ESC}${code}m`);

export function createStyle(coloured: boolean): Style {
  const wrap =
    ([on, off]: readonly [number, number]) =>
    (text: string) =>
      coloured ? `${ESC}${on}m${text}${ESC}${off}m` : text;
  return {
    bold: wrap(BOLD),
    dim: wrap(DIM),
    good: wrap(GREEN),
    bad: wrap(RED),
    waiting: wrap(YELLOW),
  };
}
