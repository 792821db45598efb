/** What `{}` stands for in `find -exec`: the starting points, and what `-name` and `-path` say of files below them. */
import type { Words } from "./ran.ts";
import type { ShellWord } from "./shell-line.ts";

/** More are not looked at: each is a command of its own. */
const STANDS_MAX = 32;

/** Words before the starting points; `-D` has a value. */
const LEADING = /^-(?:[HLP]|O.*)$/;
/** It ends the starting points. */
const EXPRESSION = /^(?:-.|[!(),]$)/;
/** Behind one of these a file need not be what a test says. */
const CHOICE = /^(?:-o|-or|,|!|-not)$/;
const NAME = /^-i?name$/;
const PATH = /^-(?:i?path|i?wholename)$/;
const PATTERN = /[*?[\\]/;

/** `( -name a -o -name b )`: the name of a file is one of them. */
const ONE_OF = /(?<=^|\n)\(\n-i?name\n[^\n*?[\\]+(?:\n-or?\n-i?name\n[^\n*?[\\]+)+\n\)(?=\n|$)/g;

/** `before`: the words up to the action, without other actions. Null: there are too many. */
export function standsFor(before: Words): readonly string[] | null {
  const from = startsAt(before);
  const first = before.findIndex(({ text }, at) => at >= from && EXPRESSION.test(text));
  const end = first < 0 ? before.length : first;
  const starts = end === from ? ["."] : before.slice(from, end).map(({ text }) => text);
  const tests = before.slice(end);
  const names = valuesOf(tests, NAME);
  const paths = valuesOf(tests, PATH);
  const isSure = isConjunction(tests);
  // A file of this name lies below, or is the starting point.
  const isNamed = isSure && names.length + paths.length > 0;
  const count = starts.length * (names.length + 1) + names.length + paths.length;
  if (count > STANDS_MAX) return null;
  const found = new Set([...paths, ...names]);
  for (const start of starts) {
    const base = baseOf(start);
    if (!isNamed || names.includes(base)) found.add(start);
    for (const name of names) found.add(`${start.replace(/\/$/, "")}/${name}`);
  }
  return [...found];
}

/** All tests hold for what is found. */
function isConjunction(tests: Words): boolean {
  const texts = tests.map(({ text }) => text).join("\n");
  return !texts
    .replaceAll(ONE_OF, "")
    .split("\n")
    .some((text) => CHOICE.test(text));
}

/** `before`: the words up to one that is not seen. Where none is seen, it is taken for a starting point, as a file is elsewhere. */
export function mayBeStart(before: Words): boolean {
  const isFew = before.length <= STANDS_MAX;
  return isFew && before.slice(startsAt(before)).every(({ startsOpen }) => startsOpen);
}

function startsAt(words: Words): number {
  let at = 1;
  for (;;) {
    const text = words[at]?.text ?? "";
    if (text === "-D") at += 2;
    else if (LEADING.test(text)) at += 1;
    else return at;
  }
}

/** Those that are no pattern. */
function valuesOf(tests: Words, test: RegExp): readonly string[] {
  return tests.flatMap(({ text }, at) => {
    const value = test.test(text) ? tests[at + 1] : undefined;
    return value === undefined || value.open || PATTERN.test(value.text) ? [] : [value.text];
  });
}

function baseOf(path: string): string {
  return path.split("/").findLast((name) => name !== "") ?? "";
}

/** Names of found files begin with the starting point, so they are no options. */
export function asFound(word: ShellWord, stand = "{}"): ShellWord {
  if (!word.text.includes("{}")) return word;
  return { ...word, text: word.text.replaceAll("{}", () => stand), open: true, startsOpen: false };
}
