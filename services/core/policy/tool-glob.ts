/**
 * Patterns of tool names in tiers and kill switches.
 *
 * GLOB-1 case does not matter.
 * GLOB-2 in a pattern that restricts (of a `hitl` or `deny` tier, of `kill.tools`) all separators
 * are equal, and a capital within a word counts as a separator before it: `delete_*` matches
 * `delete-file` and `deleteFile`.
 * GLOB-3 such a pattern without `/`, `.` or `:` is also tried on each remainder after a separator,
 * since clients of MCP write `server__tool`: on more than the last part, because nobody knows how
 * many belong to the tool's own name.
 *
 * A pattern that allows is compared by case alone: a name that only looks like an allowed one is
 * not allowed by it.
 */
import { compileGlobs, endings, type GlobMatcher } from "./glob.ts";

export function compileToolGlobs(pattern: string, restricts: boolean): GlobMatcher {
  if (!restricts) {
    const fits = compileGlobs(pattern.toLowerCase(), false);
    return (name) => fits(name.toLowerCase());
  }
  const globs = pattern.split("|").map((glob) => glob.trim());
  const whole = compileGlobs(globs.flatMap(formsOf).join("|"), false);
  const endingGlobs = globs.filter((glob) => !/[/.:]/.test(glob)).flatMap(formsOf);
  const part = endingGlobs.length === 0 ? null : compileGlobs(endingGlobs.join("|"), false);
  return (name) => {
    if (formsOf(name).some(whole)) return true;
    return part !== null && endings(name, "/.:-").flatMap(formsOf).some(part);
  };
}

/**
 * GLOB-1, GLOB-2: a name or pattern with one kind of separator, once with words split at separators
 * alone and once at capitals, too.
 */
function formsOf(text: string): readonly string[] {
  const plain = unified(text);
  const apart = unified(
    text.replaceAll(/([a-z0-9])(?=[A-Z])/g, "$1_").replaceAll(/([A-Z])(?=[A-Z][a-z])/g, "$1_"),
  );
  return plain === apart ? [plain] : [plain, apart];
}

function unified(text: string): string {
  return text.toLowerCase().replaceAll(/[\s/.:_-]+/g, "_");
}
