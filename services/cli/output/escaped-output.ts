/**
 * What every command writes through: nothing from outside moves the cursor, turns text round or hides in it. What nobody
 * sees is written as JSON escapes it, so that JSON says the same as before; colours and the progress bar are ours.
 */
import { escapeHiddenInLines, quoteTicks } from "../../core/hidden-text.ts";
import { CLEAR_LINE } from "./progress.ts";
import { STYLE_CODES } from "./style.ts";
import type { Output, Terminal } from "./terminal.ts";

/** `isJson`: results are JSON, in which a backtick would end what a model quotes by backticks. */
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
