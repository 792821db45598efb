/** Anchored globs separated by `|`; `*` stands for any characters, also none. */
export type GlobMatcher = (name: string) => boolean;

/**
 * `onLastSegment`: a glob without `/` or `.` is also tried on what follows the last of them, and on what of that follows
 * the last `__`, as clients of MCP write `server__tool`.
 */
export function compileGlobs(pattern: string, onLastSegment: boolean): GlobMatcher {
  const globs = pattern.split("|").map((glob) => glob.trim());
  const whole = globs.map((glob) => glob.split("*"));
  const bare = onLastSegment
    ? globs.filter((glob) => !/[/.]/.test(glob)).map((glob) => glob.split("*"))
    : [];
  return (name) => {
    if (matchesAny(whole, name)) return true;
    if (bare.length === 0) return false;
    const segment = lastSegment(name);
    if (segment !== name && matchesAny(bare, segment)) return true;
    const at = segment.lastIndexOf("__");
    return at >= 0 && matchesAny(bare, segment.slice(at + 2));
  };
}

function matchesAny(globs: readonly (readonly string[])[], name: string): boolean {
  for (const parts of globs) if (matches(parts, name)) return true;
  return false;
}

export function lastSegment(name: string): string {
  return name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf(".")) + 1);
}

/** Greedy from the left is enough: each literal takes its first place after the one before. */
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
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
