/** Globs for texts and paths, matched in time linear in pattern times text. */

/** Whether the pattern, with `*` (any characters) and `?` (one), matches the whole text. */
export function fitsGlob(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let p = 0;
  while (at < text.length) {
    if (pattern[p] === "*") {
      star = p;
      resume = at;
      p += 1;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === text[at])) {
      p += 1;
      at += 1;
    } else if (star >= 0) {
      p = star + 1;
      resume += 1;
      at = resume;
    } else return false;
  }
  while (pattern[p] === "*") p += 1;
  return p === pattern.length;
}

/**
 * Matches segment by segment: `**` is any number of segments, and what is below a match matches as
 * well.
 */
export function fitsPath(pattern: readonly string[], path: readonly string[]): boolean {
  let fits = new Set([0]);
  const skip = (from: Set<number>): Set<number> => {
    for (const at of from) if (pattern[at] === "**") from.add(at + 1);
    return from;
  };
  fits = skip(fits);
  for (const segment of path) {
    if (fits.has(pattern.length)) return true;
    const next = new Set<number>();
    for (const at of fits) {
      const one = pattern[at];
      if (one === "**") next.add(at);
      else if (one !== undefined && mayFit(one, segment)) next.add(at + 1);
    }
    fits = skip(next);
  }
  return fits.has(pattern.length);
}

/**
 * Whether the pattern matches a name, or one that a program or the shell may produce from a glob in
 * it. A glob that begins with `*` is compared with the letters of the pattern alone: `*.ts` would
 * be any `id_*`.
 */
function mayFit(pattern: string, name: string): boolean {
  if (!/[*?[]/.test(name)) return fitsGlob(pattern, name);
  if (/^\*+$/.test(name)) return false;
  const isOpen = name.startsWith("*") && !pattern.startsWith("*");
  const letters = isOpen ? pattern.replaceAll("*", "") : pattern;
  return haveCommonText(letters, name.replaceAll(/\[[^\]]*\]?/g, "?"));
}

/** Whether some text matches both globs, by a table of the beginnings of both. */
function haveCommonText(one: string, other: string): boolean {
  let row: boolean[] = [];
  for (let a = 0; a <= one.length; a += 1) {
    const next: boolean[] = [];
    for (let b = 0; b <= other.length; b += 1) {
      const [x, y] = [one[a - 1], other[b - 1]];
      const isSame = x === y || x === "?" || y === "?";
      const isStar = (x === "*" || y === "*") && (row[b] === true || next[b - 1] === true);
      next.push(a + b === 0 || isStar || (a > 0 && b > 0 && isSame && row[b - 1] === true));
    }
    row = next;
  }
  return row[other.length] === true;
}
