// Finds the banned words in the repository.
import { listTextFiles, listUses, parseUses, readText, type Use } from "../source-tree.ts";
import { BANNED_WORDS } from "./banned-words.ts";

export interface WordUse {
  readonly word: string;
  /** `path:line`, or the path alone where the word is in the path. */
  readonly at: string;
}

/** Foreign data, recordings, output of tools, and the list of the words itself. */
const NOT_OUR_WORDS =
  /^(package-lock\.json|test\/(fixtures|golden|language|support\/language)\b|services\/commands\/programs|test\/eval\/commands\/lines\/|test\/eval\/conversations\/[^/]+\.(?:jsonl|tools\.json)$|infra\/recordings\/|schemas\/released\/)/;
/** Names of libraries: an option of Node's key pairs, a member of the coverage report. */
const NAMES_OF_LIBRARIES: ReadonlySet<string> = new Set(["namedCurve", "covered", "notFound"]);
const CODE = /\.(ts|mts|js|mjs|cjs)$/;

/** ` find twin ` for `findTwin`, `FIND_TWIN`, `find-twin` and `Find twin`; lines stay lines. */
function spellWords(text: string): string {
  const words = text
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .replaceAll(/[^a-z\n]+/g, " ")
    .replaceAll("\n", " \n ");
  return ` ${words} `;
}

/** Uses of the words in a text, with the index of the line. */
export function findWords(
  where: "everywhere" | "names",
  text: string,
): readonly (readonly [word: string, line: number])[] {
  const spelled = spellWords(text);
  return BANNED_WORDS.filter((banned) => banned.where === where).flatMap(({ word, pattern }) =>
    Array.from(spelled.matchAll(pattern), ({ index }) => {
      return [word, spelled.slice(0, index).split("\n").length - 1] as const;
    }),
  );
}

export function listWordUses(): readonly WordUse[] {
  const paths = listTextFiles().filter((path) => !NOT_OUR_WORDS.test(path));
  return paths.flatMap((path) => {
    const text = readText(path);
    return findWordUses(path, text, () => listUses(path));
  });
}

/** Uses in one file, including its path. `listNames` lists the names in its code. */
export function findWordUses(
  path: string,
  text: string,
  listNames: () => readonly Use[] = () => parseUses(path, text),
): readonly WordUse[] {
  const uses: WordUse[] = [];
  for (const where of ["everywhere", "names"] as const) {
    for (const [word] of findWords(where, path)) uses.push({ word, at: path });
  }
  for (const [word, line] of findWords("everywhere", text)) {
    uses.push({ word, at: `${path}:${line + 1}` });
  }
  if (!CODE.test(path)) return uses;
  const names = listNames().filter(
    ({ name }) => /^[\w$]+$/.test(name) && !NAMES_OF_LIBRARIES.has(name),
  );
  for (const [word, index] of findWords("names", names.map(({ name }) => name).join("\n"))) {
    uses.push({ word, at: `${path}:${names[index]?.line}` });
  }
  return uses;
}
