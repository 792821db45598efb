/**
 * The terminal that every command writes through: text from outside can neither move the cursor,
 * nor reverse text, nor hide. Invisible characters are written as JSON escapes, which leave JSON
 * unchanged in meaning; colours and the progress bar are ours and pass.
 */
import { escapeHiddenInLines, quoteTicks } from "../../core/hidden-text.ts";
import { CLEAR_LINE } from "./progress.ts";
import { STYLE_CODES } from "./style.ts";
import type { Output, Terminal } from "./terminal.ts";

/**
 * `isJson`: the result is JSON, whose backticks are escaped, because models quote it in backticks.
 */
export function escapedTerminal(terminal: Terminal, isJson: boolean): Terminal {
  const out = escapedOutput(terminal.out, isJson);
  return { ...terminal, out, err: escapedOutput(terminal.err, false) };
}

function escapedOutput(output: Output, isJson: boolean): Output {
  return {
    isTerminal: output.isTerminal,
    columns: output.columns,
    style: output.style,
    write: (text) => {
      const escaped = escapedText(text, output);
      return output.write(isJson ? quoteTicks(escaped) : escaped);
    },
    flush: () => output.flush(),
  };
}

const PLAIN = /^[\n\t -~]*$/;

export function escapedText(text: string, { isTerminal, style }: Output): string {
  if (PLAIN.test(text)) return text;
  const isColoured = style.bold("") !== "";
  const own = [...(isTerminal ? [CLEAR_LINE] : []), ...(isColoured ? STYLE_CODES : [])];
  return own.length === 0 ? escapeHiddenInLines(text) : escapedBetween(text, own);
}

function escapedBetween(text: string, [code, ...others]: readonly string[]): string {
  if (code === undefined) return escapeHiddenInLines(text);
  return text
    .split(code)
    .map((part) => escapedBetween(part, others))
    .join(code);
}
