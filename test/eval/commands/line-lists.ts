/** Lines of shell in classes, from files that a person reads: `## class`, then one line of shell each. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sharedData } from "../../support/shared-data.ts";

export interface ClassedLine {
  readonly line: string;
  readonly group: string;
}

/** Every `⏎` in a file stands for a newline within a line of shell. */
export function readLines(name: "everyday" | "harmful" | "writes"): readonly ClassedLine[] {
  const path = fileURLToPath(new URL(`lines/${name}.txt`, import.meta.url));
  const lines: ClassedLine[] = [];
  let group = "";
  for (const row of readFileSync(path, "utf8").split("\n")) {
    if (row.startsWith("## ")) group = row.slice("## ".length);
    else if (row !== "") lines.push({ line: row.replaceAll("⏎", "\n"), group });
  }
  return lines;
}

interface PublishedCommand {
  readonly command: string;
  readonly category?: string;
}

/** The commands that aegish publishes, or why they are missing. */
export function readAegish(
  name: "harmful-open" | "harmless",
): readonly ClassedLine[] | { readonly missing: string } {
  const data = sharedData("benchmarks/aegish");
  if (!data.available) return { missing: data.reason };
  const text = readFileSync(join(data.path, `${name}.json`), "utf8");
  const commands = JSON.parse(text) as readonly PublishedCommand[];
  return commands.map(({ command, category = "harmless" }) => ({ line: command, group: category }));
}
