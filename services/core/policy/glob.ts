/** Anchored globs separated by `|`; `*` stands for any characters, also none. */
export type GlobMatcher = (name: string) => boolean;

/**
 * `onLastSegment`: a glob without `/` or `.` is also tried on each remainder after a separator, the
 * last segment of the name among them. Separators are `/`, `.`, `:` and, as clients of MCP write
 * `server__tool`, `__`. Every remainder counts, because nobody knows how many segments belong to
 * the tool's own name.
 */
export function compileGlobs(pattern: string, onLastSegment: boolean): GlobMatcher {
  const globs = pattern.split("|").map((glob) => glob.trim());
  const whole = globs.map((glob) => glob.split("*"));
  const endingGlobs = onLastSegment
    ? globs.filter((glob) => !/[/.]/.test(glob)).map((glob) => glob.split("*"))
    : [];
  return (name) => {
    if (matchesAny(whole, name)) return true;
    if (endingGlobs.length === 0) return false;
    return endings(name, "/.:").some((ending) => matchesAny(endingGlobs, ending));
  };
}

/** The remainder after `__` and each character of `separators`, the longest first. */
export function endings(name: string, separators: string): readonly string[] {
  const suffixes: string[] = [];
  for (let at = 0; at < name.length; at += 1) {
    if (separators.includes(name.charAt(at))) suffixes.push(name.slice(at + 1));
    else if (name.startsWith("__", at)) suffixes.push(name.slice(at + 2));
  }
  return suffixes;
}

function matchesAny(globs: readonly (readonly string[])[], name: string): boolean {
  for (const parts of globs) if (matches(parts, name)) return true;
  return false;
}

/**
 * A greedy match from the left is enough: each literal takes the first match after the previous
 * one.
 */
function matches(parts: readonly string[], name: string): boolean {
  const first = parts[0] ?? "";
  if (parts.length === 1) return name === first;
  const last = parts[parts.length - 1] ?? "";
  if (name.length < first.length + last.length) return false;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  const end = name.length - last.length;
  for (let i = 1; i < parts.length - 1; i++) {
    const part = parts[i] as string;
    const index = name.indexOf(part, at);
    if (index < 0 || index + part.length > end) return false;
    at = index + part.length;
  }
  return true;
}
