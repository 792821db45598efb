// Makes a copy of the sources with named edits that take something away, to test what breaks
// without it. The sources themselves have no switch for that.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readText } from "../source-tree.ts";
import { filesThatReach, withOriginals } from "./reached-files.ts";

export type Edit = {
  /** Path from the root of the repository. */
  readonly file: string;
  /** Text that is in the file exactly once. */
  readonly find: string;
  readonly replace: string;
};

const ROOT = join(import.meta.dirname, "../../..");

/**
 * @throws where an edit does not apply exactly once: the code has changed, and the edit must follow
 *   it.
 */
export function applyEdit(text: string, { file, find, replace }: Edit): string {
  const parts = text.split(find);
  if (parts.length === 2) return parts.join(replace);
  const times = parts.length - 1;
  throw new Error(`an edit of ${file} applies ${times} times instead of once:\n${find}`);
}

/** The text of a source file after the edits of that file. */
export function editedText(file: string, edits: readonly Edit[]): string {
  return edits.filter((edit) => edit.file === file).reduce(applyEdit, readText(file));
}

/**
 * Has only the edited files and those that import them. They import all others from the sources, which
 * the process has loaded already, and which no edit can change.
 */
export class EditedCopy {
  readonly folder: string;
  readonly #edits: readonly Edit[];
  readonly #edited: ReadonlySet<string>;

  constructor(edits: readonly Edit[]) {
    this.folder = mkdtempSync(join(tmpdir(), "callgate-edited-"));
    this.#edits = edits;
    this.#edited = new Set(edits.map(({ file }) => file));
    symlinkSync(join(ROOT, "node_modules"), join(this.folder, "node_modules"));
  }

  /** A module of the copy, with all that it imports. `M`: the type of the original module. */
  async load<M>(file: string): Promise<M> {
    const textOf = (path: string): string => editedText(path, this.#edits);
    const reaching = filesThatReach(this.#edited, file, textOf);
    for (const path of reaching) {
      const copied = join(this.folder, path);
      mkdirSync(dirname(copied), { recursive: true });
      writeFileSync(copied, withOriginals(path, textOf(path), { reaching, root: ROOT }));
    }
    return (await import(join(reaching.has(file) ? this.folder : ROOT, file))) as M;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
