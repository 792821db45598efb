/** Notes of an import, for the terminal. */
import { printable } from "../output/text.ts";
import type { ImportNote } from "./import/tool-definition.ts";

const NOTE_CHARACTERS = 300;

/** One line for each thing that is said, however many tools it is said of. */
export function noteLines(notes: readonly ImportNote[]): readonly string[] {
  const tools = new Map<string, string[]>();
  for (const { tool, path, message } of notes) {
    const said = `${path}: ${message}`;
    tools.set(said, [...(tools.get(said) ?? []), tool]);
  }
  return [...tools].map(([said, names]) => {
    const [only = ""] = names;
    const line =
      names.length === 1
        ? `${only}: ${said}`
        : `${names.length} tools: ${said}: ${names.join(", ")}`;
    return `note: ${printable(line, NOTE_CHARACTERS)}\n`;
  });
}
