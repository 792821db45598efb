// Documents as the tidy test reads them: their anchors, their links, and the files that they name.

/** A link to a file of the repository, or within the document (`path` is empty). */
export interface DocumentLink {
  readonly path: string;
  /** Null: the link names no heading. */
  readonly anchor: string | null;
}

const FENCE = /^(`{3,}|~{3,})[\s\S]*?^\1/gm;

/** Ids that GitHub gives the headings: a second heading of one name ends in `-1`. */
export function listAnchors(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const counts = new Map<string, number>();
  for (const [, title = ""] of markdown.replaceAll(FENCE, "").matchAll(/^#{1,6} +(.+)$/gm)) {
    const slug = makeSlug(title);
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

function makeSlug(title: string): string {
  const text = title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").trim();
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}

/** Links that lead out of the repository are left out. */
export function listLinks(markdown: string): readonly DocumentLink[] {
  const text = markdown.replaceAll(FENCE, "");
  const targets = text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?[^)]*\)/g);
  return Array.from(targets, ([, path = "", anchor = null]) => ({ path, anchor }));
}

const ROOTS =
  /^(?:services|test|docs|tasks|infra|schemas|examples|bin|\.ci|\.github)\/[\w./*{}<>,-]*$/;
const SOURCE = /^[\w./<>*{},-]+\.(?:ts|mts|avsc)$/;

/** Files and folders of the repository that a document names in code, as it writes them. */
export function listPaths(markdown: string): readonly string[] {
  const spans = markdown.replaceAll(FENCE, "").matchAll(/`([^`\n]+)`/g);
  const words = Array.from(spans, ([, span = ""]) => span.split(/\s+/)).flat();
  return words.filter((word) => ROOTS.test(word) || SOURCE.test(word));
}

/**
 * Whether some file is named so: from the root, or by the end of its path. `*` and `<name>` are any
 * name, `{a,b}` is each of the two, and a folder is named by what it contains.
 */
export function matchesFile(path: string, files: readonly string[]): boolean {
  return expandBraces(path).every((one) => {
    const pattern = one
      .replace(/\/$/, "")
      .replaceAll(/<[^>]*>/g, "*")
      .replaceAll(/[.+?^$()|[\]\\]/g, "\\$&")
      .replaceAll("**", "\0")
      .replaceAll("*", "[^/]+")
      .replaceAll("\0", ".*");
    const start = ROOTS.test(one) ? "^" : "(?:^|/)";
    const wanted = new RegExp(`${start}${pattern}(?:/|$)`);
    return files.some((file) => wanted.test(file));
  });
}

function expandBraces(path: string): readonly string[] {
  const [group, inside = ""] = /\{([^{}]*)\}/.exec(path) ?? [];
  if (group === undefined) return [path];
  return inside.split(",").flatMap((one) => expandBraces(path.replace(group, one)));
}
