import { inspect, styleText } from "node:util";

/** Colours only on a terminal, and not if NO_COLOR is set. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly waiting: (text: string) => string;
}

const FORMATS = ["bold", "dim", "green", "red", "yellow"] as const;

/** All codes that a style puts around a text. */
export const STYLE_CODES: readonly string[] = [
  ...new Set(FORMATS.flatMap((format) => inspect.colors[format] ?? [])),
].map((code) => `\u001b[${code}m`);

export function createStyle(coloured: boolean): Style {
  // Does not ask the stream: the caller decides whether there are colours.
  const wrap = (format: (typeof FORMATS)[number]) => (text: string) =>
    coloured ? styleText(format, text, { validateStream: false }) : text;
  return {
    bold: wrap("bold"),
    dim: wrap("dim"),
    good: wrap("green"),
    bad: wrap("red"),
    waiting: wrap("yellow"),
  };
}
