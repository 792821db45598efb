/** Tools of projects that run programs: `npm exec git push`, `npx`, `poetry run`, `corepack npm`. */
import { formsOf } from "./option-forms.ts";
import { placesOf } from "./places.ts";
import { afterOptions, type Ran, UNSEEN, type Words } from "./ran.ts";
import { type Runner, runnerOf } from "./runner-forms.ts";
import { type ShellWord, textOf } from "./shell-line.ts";
import { hasSubcommands } from "./subcommands.ts";

/** Null: it runs no program that its words name. `ranBy`: what a command runs. */
export function ranByRunner(name: string, words: Words, ranBy: RanBy): Ran | null {
  const runner = runnerOf(name);
  if (runner === null) return null;
  const start = startOf(name, runner, words);
  if (start === null) return null;
  const ran = ranFrom(words, start.at, runner, ranBy);
  // It may be another subcommand, of which this is an argument.
  return ran === null || start.isCertain ? ran : { ...ran, floor: "write" };
}

type RanBy = (words: Words) => Ran | null;

interface Start {
  /** Where the options of what runs begin. */
  readonly at: number;
  readonly isCertain: boolean;
}

function startOf(name: string, { subcommands }: Runner, words: Words): Start | null {
  if (subcommands === undefined) return { at: 1, isCertain: true };
  const { found } = placesOf(words, formsOf(name) ?? {});
  const isCertain = found.length === 1;
  for (const at of found) {
    if (subcommands.test(words[at]?.text ?? "")) return { at: at + 1, isCertain };
    if (runsUnnamed(name, words[at]?.text ?? "")) return { at, isCertain };
    const isTool = TWO_WORDS.has(textOf([...words.slice(0, 1), ...words.slice(at, at + 2)]));
    const isPlace = name === "npm" && words[at]?.text === "explore";
    if (isTool || isPlace) return { at: at + 2, isCertain };
  }
  return null;
}

/** Groups with a subcommand that runs what follows. */
const TWO_WORDS = new Set(["uv tool run", "hatch env run"]);

/** A program of the project, where it is neither a command of its own nor a script. */
function runsUnnamed(name: string, subcommand: string): boolean {
  const own = Object.hasOwn(OWN, name) ? OWN[name] : undefined;
  return own?.has(subcommand) === false;
}

const OWN: Readonly<Record<string, ReadonlySet<string>>> = {
  pnpm: new Set(
    (
      "add install i ci update up upgrade remove rm uninstall un unlink link ln import rebuild rb prune fetch dedupe patch " +
      "patch-commit patch-remove audit licenses list ls la ll outdated why run run-script test t start init create publish " +
      "unpublish pack deploy store server setup env config c get set root bin cache doctor self-update completion help view info"
    ).split(" "),
  ),
  yarn: new Set(
    (
      "add install up upgrade upgrade-interactive remove link unlink init create npm publish pack patch patch-commit plugin set config cache dedupe " +
      "import policies rebuild unplug version versions global login logout owner tag team autoclean audit check stage constraints search workspaces " +
      "workspace licenses list why bin info outdated explain node sdks help test start build generate-lock-entry"
    ).split(" "),
  ),
  bun: new Set(
    (
      "install i add a remove rm update outdated link unlink pm build init create c upgrade test publish patch patch-commit repl exec audit info why " +
      "discord help feedback"
    ).split(" "),
  ),
};

/** Behind an option that is not known stands its value, or the command: so many are looked behind. */
const UNKNOWN_MAX = 4;

/** Texts of one command: each may be as long as the line. */
const TEXTS_MAX = 4;

function ranFrom(words: Words, from: number, runner: Runner, ranBy: RanBy): Ran | null {
  const { operands = 0, takesTexts, onlyText } = runner;
  if (takesTexts === true) return ranByEach(words, from, runner);
  if (onlyText === true) return ranByTextOf(words, words.length, runner);
  const begins = beginsAt(words, from, runner);
  if (begins !== null) return ranByAll([words.slice(begins)], runner);
  const commands: Words[] = [];
  let at = from;
  for (let left = UNKNOWN_MAX; ; left -= 1) {
    at = afterOptions(words, runner, at);
    const byText = ranByTextOf(words, at + 1, runner);
    if (byText !== null) return byText;
    const word = words[at];
    if (word === undefined) break;
    if (!word.text.startsWith("-") || word.text === "-") {
      commands.push(words.slice(afterOwn(words, at + operands, runner)));
      break;
    }
    const value = words.slice(at + 1 + operands);
    if (left === 0 || word.open || runsOthers(value, ranBy)) return UNSEEN;
    commands.push(value);
    at += 2;
  }
  return ranByAll(commands, runner);
}

/** Behind the word that the command follows; null: none is needed. */
function beginsAt(words: Words, from: number, { dashes, behind }: Runner): number | null {
  const at = words.findIndex(
    ({ text, open }, index) =>
      index >= from && !open && (behind?.test(text) ?? (dashes === true && text === "--")),
  );
  return at < 0 ? (behind === undefined ? null : words.length) : at + 1;
}

/** Behind words of its own, and variables. */
function afterOwn(words: Words, from: number, { skips, assigns }: Runner): number {
  let at = from;
  if (skips?.test(words[at]?.text ?? "") === true) at += 1;
  while (assigns === true && /^[A-Za-z_]\w*=/.test(words[at]?.text ?? "")) at += 1;
  return at;
}

/** `concurrently "npm test" npm:lint`. What stands behind an option that is not known may be a text, too. */
function ranByEach(words: Words, from: number, runner: Runner): Ran {
  const given: ShellWord[] = [];
  for (let at = afterOptions(words, runner, from); at < words.length; ) {
    const word = words[at] as ShellWord;
    if (word.open || !word.text.startsWith("-")) given.push(word);
    at = afterOptions(words, runner, at + 1);
  }
  const lines = given
    .slice(runner.operands ?? 0)
    .map(({ text }) => text.replace(/^(npm|pnpm|yarn|bun):/, "$1 run "));
  return { floor: "run", commands: [], lines, hidden: given.some(({ open }) => open) };
}

/** Nor has subcommands: where it is not certain that it is a command, it is not looked into further. */
function runsOthers(words: Words, ranBy: RanBy): boolean {
  const name = words[0]?.text ?? "";
  const isTool = runnerOf(name) !== null || formsOf(name) !== null || hasSubcommands(name);
  return isTool || name === "git" || ranBy(words) !== null;
}

function isText({ text }: ShellWord, runner: Runner): boolean {
  return runner.text?.test(text) === true;
}

/** Of the first such option, and of each behind it. Null: there is none before the end. */
function ranByTextOf(words: Words, end: number, runner: Runner): Ran | null {
  const at = words.findIndex((word, i) => i > 0 && i < end && isText(word, runner));
  if (at <= 0) return null;
  const places = words.flatMap((word, i) => (i >= at && isText(word, runner) ? [i] : []));
  // What follows the first may belong to it, those behind it among that.
  const lines = places
    .slice(0, TEXTS_MAX)
    .flatMap((place) => textsAt(words, place, place === at ? runner : {}));
  const hidden = places.length > TEXTS_MAX || words.slice(at).some(({ open }) => open);
  return { floor: "run", commands: [], lines, hidden };
}

/** The next word, or all that follow; and with them what may belong to it. */
function textsAt(
  words: Words,
  at: number,
  { takesAll = false, takesRest = false }: Runner,
): readonly string[] {
  const joined = /^--(?:call|command|run|exec)=(.*)$/s.exec(words[at]?.text ?? "")?.[1];
  const from = joined === undefined ? at + 1 : at;
  const line = joined ?? textOf(takesAll ? words.slice(from) : words.slice(from, from + 1));
  const rest = takesRest ? words.slice(from + 1) : [];
  return rest.length > 0 ? [line, `${line} ${textOf(rest)}`] : [line];
}

function ranByAll(commands: readonly Words[], { only }: Runner): Ran | null {
  const given = commands.filter((words) => words.length > 0);
  const known = given.filter(([word]) => only?.test(word?.text ?? "") !== false);
  if (known.length === 0) return null;
  if (known.some(([word]) => word?.open !== false || word.text === "-")) return UNSEEN;
  return { floor: "run", commands: known.flatMap(byPackage), lines: [], hidden: false };
}

/** Programs that are called otherwise than the packages that bring them. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "aws-cdk": "cdk",
  "firebase-tools": "firebase",
  "netlify-cli": "netlify",
  "@changesets/cli": "changeset",
  "@cloudflare/wrangler": "wrangler",
};

/** `npm@latest` is `npm`, and `firebase-tools` is `firebase` as well. */
function byPackage([command, ...rest]: Words): readonly Words[] {
  if (command === undefined) return [rest];
  const end = command.text.lastIndexOf("@");
  const text = end > 0 ? command.text.slice(0, end) : command.text;
  const program = Object.hasOwn(PROGRAMS, text) ? PROGRAMS[text] : undefined;
  const names = program === undefined ? [text] : [text, program];
  return names.map((name) => [{ ...command, text: name }, ...rest]);
}
