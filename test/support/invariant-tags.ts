// Tags of the invariants that head comments list: `TASK-1 a decision is made only in RUNNING …`.
import { readText } from "./source-tree.ts";

/** A line of a comment that begins with a tag. */
const DEFINITION = /^\s*(?:\*|\/\/) ([A-Z]+-?\d+) \S/gm;
/** The same without a word, also as the first cell of a table, and a tag in brackets: `(S3)`. V8 is no tag. */
const SHORT_HEAD = /^\s*(?:\*|\/\/|\/\*\*|\|) (?!V8)([A-Z]\d{1,2})[ ,]/;
const SHORT_BRACKETED = /(?:\*|\/\/).*\(([A-Z]\d{1,2})(?:\)| in `)/;

/** `tag: files` for each tag that two files define. */
export function findSharedTags(paths: readonly string[]): readonly string[] {
  const filesOf = new Map<string, Set<string>>();
  for (const path of paths) {
    for (const [, tag = ""] of readText(path).matchAll(DEFINITION)) {
      filesOf.set(tag, (filesOf.get(tag) ?? new Set()).add(path));
    }
  }
  return [...filesOf]
    .filter(([, files]) => files.size > 1)
    .map(([tag, files]) => `${tag}: ${[...files].join(", ")}`);
}

/** `path:line: tag` for each tag of one letter and a number: it names no module. */
export function findShortTags(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) =>
    readText(path)
      .split("\n")
      .flatMap((line, index) => {
        const tag = findShortTag(line);
        return tag === undefined ? [] : [`${path}:${index + 1}: ${tag}`];
      }),
  );
}

export function findShortTag(line: string): string | undefined {
  return SHORT_HEAD.exec(line)?.[1] ?? SHORT_BRACKETED.exec(line)?.[1];
}
