/** The comments that say why an imported line is as it is. */
import { printable } from "../../../output/text.ts";
import type { ToolGuess } from "./guess-tool.ts";

const REASON_CHARACTERS = 80;

/** The lines above the tool's entry. */
export function describeGuess(name: string, { access, write }: ToolGuess): readonly string[] {
  const { isRead, confidence } = access;
  const reason = printable(access.reason, REASON_CHARACTERS);
  if (confidence === "unsure") {
    return [`unsure: is ${name} a read? Then write read_only: true alone (${reason})`];
  }
  const what = isRead ? "read" : "write";
  const kind = write === null || write.kind === null ? "" : ` (${write.kind})`;
  return [`${what}${kind}, ${confidence}: ${reason}`];
}
