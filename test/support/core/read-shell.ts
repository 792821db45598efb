import { partsOfShell } from "../../../services/core/variants/shell/classify-shell.ts";

/** What rules see of a line, and whether they see all of it: never of a line that cannot be read, or is empty. */
export function readShell(line: string) {
  const parts = partsOfShell(line, { session: false }) ?? [];
  return {
    texts: parts.flatMap((part) => part.texts),
    isSeen: parts.length > 0 && parts.every(({ hidden }) => !hidden),
    classes: parts.map((part) => part.class),
  };
}
