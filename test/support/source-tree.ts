// Lists and reads the repository's own files for the tidy test.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const NOT_OURS = /^(node_modules|dist|dist-build.*|coverage|\.git|\.callgate)$/;
const TEXT =
  /\.(ts|mts|js|py|mjs|cjs|json|jsonl|md|yaml|yml|avsc|txt|sh)$|^\.ci\/run$|\/\.?[a-z-]+rc$/;

/** Paths from the root, with `/`, of every text file that no tool generates. */
export function listTextFiles(): readonly string[] {
  const entries = readdirSync(ROOT, { withFileTypes: true }).filter(
    ({ name }) => !NOT_OURS.test(name),
  );
  const paths = entries.flatMap((entry) =>
    entry.isDirectory()
      ? readdirSync(join(ROOT, entry.name), { recursive: true, withFileTypes: true })
          .filter((inner) => inner.isFile())
          .map((inner) => relative(ROOT, join(inner.parentPath, inner.name)))
      : [entry.name],
  );
  return paths
    .map((path) => path.split(sep).join("/"))
    .filter((path) => TEXT.test(`/${path}`) || TEXT.test(path));
}

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** `path:line: text` for each line that the pattern finds; at most the first ten. */
export function findLines(paths: readonly string[], pattern: RegExp): readonly string[] {
  const matches: string[] = [];
  for (const path of paths) {
    const text = readText(path);
    if (!pattern.test(text)) {
      continue;
    }
    for (const [index, line] of text.split("\n").entries()) {
      if (pattern.test(line)) {
        matches.push(`${path}:${index + 1}: ${line.trim().slice(0, 120)}`);
      }
    }
  }
  return matches.slice(0, 10);
}

/** One use of a name in code: `Date.now` for a property access, the bare name otherwise. */
export type Use = { readonly name: string; readonly line: number };

const usesByPath = new Map<string, readonly Use[]>();

/** Every identifier and every `a.b` in a file's code, without comments and strings. */
export function listUses(path: string): readonly Use[] {
  const uses = usesByPath.get(path) ?? parseUses(path, readText(path));
  usesByPath.set(path, uses);
  return uses;
}

export function parseUses(path: string, text: string): readonly Use[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false);
  const uses: Use[] = [];
  const note = (name: string, node: ts.Node): void => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    uses.push({ name, line: line + 1 });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) {
      note(node.text, node);
    }
    if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
      note(`${node.expression.text}.${node.name.text}`, node);
    }
    if (ts.isNewExpression(node) && ts.isIdentifier(node.expression)) {
      note(`new ${node.expression.text}`, node);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return uses;
}
