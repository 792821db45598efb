// Makes a copy of the sources with named edits that take something away, to test what breaks
// without it. The sources themselves have no switch for that.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Edit = {
  /** Path from the root of the repository. */
  readonly file: string;
  /** Text that is in the file exactly once. */
  readonly find: string;
  readonly replace: string;
};

const ROOT = join(import.meta.dirname, "../../..");
const COPIED = [
  "services",
  "schemas",
  "test/support",
  "test/bench",
  "test/tsconfig.json",
  "tsconfig.json",
  "package.json",
];

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
  const text = readFileSync(join(ROOT, file), "utf8");
  return edits.filter((edit) => edit.file === file).reduce(applyEdit, text);
}

export class EditedCopy {
  readonly folder: string;

  constructor(edits: readonly Edit[]) {
    this.folder = mkdtempSync(join(tmpdir(), "callgate-edited-"));
    try {
      for (const name of COPIED) {
        cpSync(join(ROOT, name), join(this.folder, name), { recursive: true });
      }
      symlinkSync(join(ROOT, "node_modules"), join(this.folder, "node_modules"));
      for (const file of new Set(edits.map((edit) => edit.file))) {
        writeFileSync(join(this.folder, file), editedText(file, edits));
      }
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  /** A module of the copy, with all that it imports. `M`: the type of the original module. */
  async load<M>(file: string): Promise<M> {
    return (await import(join(this.folder, file))) as M;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
