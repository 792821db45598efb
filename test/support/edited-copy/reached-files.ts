// Which source files an edit of some of them reaches through imports. Paths are from the root of the
// repository.
import { posix } from "node:path";

/** Imports that remain once the types are removed, static and dynamic ones. */
const LOADED = /(?:^(?:import|export)\s(?!\s*type\s)[^"]*?|\bimport\()"(\.{1,2}\/[^"]+)"/gm;
const RELATIVE = /((?:\bfrom|\bimport)[\s(]*")(\.{1,2}\/[^"]+)(?=")/g;

/** `specifier` is relative to the file. */
function resolve(file: string, specifier: string): string {
  return posix.join(posix.dirname(file), specifier);
}

/** The edited files that `entry` loads, and all those through which it loads them. */
export function filesThatReach(
  edited: ReadonlySet<string>,
  entry: string,
  textOf: (file: string) => string,
): ReadonlySet<string> {
  const importers = new Map<string, string[]>([[entry, []]]);
  // Grows while it is read.
  const loaded = [entry];
  for (const file of loaded) {
    if (!/\.[cm]?[jt]s$/.test(file)) continue;
    for (const [, specifier = ""] of textOf(file).matchAll(LOADED)) {
      const target = resolve(file, specifier);
      const others = importers.get(target);
      if (others === undefined) {
        importers.set(target, [file]);
        loaded.push(target);
      } else others.push(file);
    }
  }
  const reaching = new Set([...edited].filter((file) => importers.has(file)));
  for (const file of reaching)
    for (const importer of importers.get(file) ?? []) reaching.add(importer);
  return reaching;
}

/**
 * The text of a copied file, which imports files that are not copied from `root`.
 * @throws where the file asks for its own place, which is another one in the copy.
 */
export function withOriginals(
  file: string,
  text: string,
  { reaching, root }: { readonly reaching: ReadonlySet<string>; readonly root: string },
): string {
  if (text.includes("import.meta")) throw new Error(`${file} depends on its place`);
  return text.replace(RELATIVE, (whole, before: string, specifier: string) => {
    const target = resolve(file, specifier);
    return reaching.has(target) ? whole : `${before}${posix.join(root, target)}`;
  });
}
