/**
 * What the gate understands of a shell line: plain commands whose words are literal, joined by
 * `|`, `&&`, `||`, `;` and groups. Everything else is unclear, with the reason.
 */

import { joinPath } from "./directory.ts";
import { LineReader } from "./line-reader.ts";
import { NotPlain } from "./not-plain.ts";
import type { LineOptions, ParsedLine } from "./plain-command.ts";
import { parseTree } from "./syntax-tree.ts";
import { findUnreadText } from "./unread-text.ts";

export type { LineOptions, ParsedLine, PlainCommand, Redirection } from "./plain-command.ts";

/** Splits a line into plain commands. Never throws; its time is linear in the length. */
export function parseLine(text: string, options: LineOptions): ParsedLine {
  const tree = parseTree(text);
  if (tree.kind === "unclear") return tree;
  const reader = new LineReader(options);
  try {
    reader.readList(tree.script.commands, [joinPath(options.startDirectory, ".")]);
  } catch (error) {
    const reason = error instanceof NotPlain ? error.message : "the line is nested too deeply";
    return { kind: "unclear", reason };
  }
  const position = findUnreadText(text, reader.tokens, reader.documents);
  if (position === null) return { kind: "plain", commands: reader.commands, joints: reader.joints };
  return { kind: "unclear", reason: `the text at character ${position + 1} is not understood` };
}
