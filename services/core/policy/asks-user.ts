/** Whether a tool asks a person: by its entry, else by one of the names that frameworks give to such tools. */
import type { ToolDocument } from "./document.ts";

/** In lower case, without separators. */
const NAMES: ReadonlySet<string> = new Set([
  "askuser",
  "askhuman",
  "askuserquestion",
  "askfollowupquestion",
  "requestuserinput",
  "requesthumaninput",
  "getuserinput",
  "humaninput",
]);

export function asksUser(name: string, entry: ToolDocument): boolean {
  if (entry.asks_user !== undefined) return entry.asks_user;
  if (entry.read_only === false || changesSomething(entry)) return false;
  return NAMES.has(lastSegment(name).replace(/[-_ ]/g, "").toLowerCase());
}

function changesSomething({ effects, side_effect_resource }: ToolDocument): boolean {
  return (effects ?? []).length > 0 || side_effect_resource !== undefined;
}

/** The name behind that of its server: `mcp__desk__ask_user`, `desk/ask_user`. */
function lastSegment(name: string): string {
  return name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("."), endOf(name, "__")) + 1);
}

function endOf(name: string, separator: string): number {
  const at = name.lastIndexOf(separator);
  return at < 0 ? -1 : at + separator.length - 1;
}
