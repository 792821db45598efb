/** Tools of projects that run programs: `npm exec git push`, `npx`, `poetry run`, `corepack npm`. */
import { formsOf } from "./option-forms.ts";
import { placesOf } from "./places.ts";
import { afterOptions, type OptionForms, type Ran, UNSEEN, type Words } from "./ran.ts";
import { type ShellWord, textOf } from "./shell-line.ts";
import { hasSubcommands } from "./subcommands.ts";

interface Runner extends OptionForms {
  /** Subcommands that run what follows; none: all its words are what it runs. */
  readonly subcommands?: RegExp;
  /** Options whose value is a text for a shell. */
  readonly text?: RegExp;
  /** The text is all words behind the option. */
  readonly takesAll?: boolean;
  /** It runs no others than these. */
  readonly only?: RegExp;
}

const NODE: Runner = {
  subcommands: /^(?:exec|x|dlx)$/,
  flags:
    /^-(?:[ysqr]|-)$|^--(?:yes|no|quiet|silent|no-install|ignore-existing|workspaces|recursive|parallel|bun|if-present|include-workspace-root|prefer-offline|prefer-online|offline|no-[a-z-]+)$|^--(?!call=)[a-z-]+=/,
  values: /^-[pwCF]$|^--(?:package|workspace|registry|prefix|filter|dir|cwd|loglevel|cache)$/,
  text: /^(?:-c|--shell-mode)$|^--call(?:=|$)/,
};
const { subcommands: _subcommands, ...NPX } = NODE;
const UV: Runner = {
  subcommands: /^run$/,
  flags:
    /^-(?:[qvnsm]|-)$|^--(?:quiet|verbose|frozen|locked|isolated|dev|active|exact|offline|script|module|all-[a-z-]+|only-[a-z]+|no-[a-z-]+|reinstall|upgrade|refresh|native-tls|managed-python)$|^--[a-z-]+=/,
  values:
    /^-[pPUif]$|^--(?:with|with-editable|with-requirements|from|python|extra|group|env-file|package|project|directory|index|index-url|extra-index-url|find-links|color|cache-dir|config-file)$/,
};
const { subcommands: _run, ...UVX } = UV;

const RUN: Runner = { subcommands: /^run$/, flags: /^--$/ };

const RUNNERS: Readonly<Record<string, Runner>> = {
  npm: NODE,
  pnpm: { ...NODE, takesAll: true },
  yarn: NODE,
  // What is no script of the project is a program of the machine.
  bun: { ...NODE, subcommands: /^(?:x|run)$/ },
  npx: NPX,
  pnpx: { ...NPX, takesAll: true },
  bunx: NPX,
  corepack: { only: /^(?:npm|npx|pnpm|pnpx|yarn|yarnpkg)(?:@|$)/ },
  poetry: RUN,
  pipenv: RUN,
  pipx: RUN,
  pdm: RUN,
  rye: RUN,
  uv: UV,
  uvx: UVX,
  bundle: { subcommands: /^exec$/, flags: /^--(?:(?:no-)?keep-file-descriptors)?$/ },
  conda: {
    subcommands: /^run$/,
    flags: /^-v+$|^--(?:no-capture-output|live-stream|dev)?$/,
    values: /^-[np]$|^--(?:name|prefix|cwd)$/,
  },
};

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

function runnerOf(name: string): Runner | null {
  return Object.hasOwn(RUNNERS, name) ? (RUNNERS[name] ?? null) : null;
}

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
    // A program, where it is neither a command of its own nor a script of the project.
    if (name === "pnpm" && !PNPM_OWN.has(words[at]?.text ?? "")) return { at, isCertain };
    const isTool = name === "uv" && words[at]?.text === "tool" && words[at + 1]?.text === "run";
    if (isTool) return { at: at + 2, isCertain };
  }
  return null;
}

const PNPM_OWN = new Set(
  (
    "add install i ci update up upgrade remove rm uninstall un unlink link ln import rebuild rb prune fetch dedupe patch " +
    "patch-commit patch-remove audit licenses list ls la ll outdated why run run-script test t start init create publish " +
    "unpublish pack deploy store server setup env config c get set root bin cache doctor self-update completion help view info"
  ).split(" "),
);

/** Behind an option that is not known stands its value, or the command: so many are looked behind. */
const UNKNOWN_MAX = 4;

function ranFrom(words: Words, from: number, runner: Runner, ranBy: RanBy): Ran | null {
  const commands: Words[] = [];
  let at = from;
  for (let left = UNKNOWN_MAX; ; left -= 1) {
    at = afterOptions(words, runner, at);
    const textAt = words.findIndex((word, index) => index <= at && isText(word, runner));
    if (textAt > 0) return ranByTexts(words, textAt, runner);
    const word = words[at];
    if (word === undefined) break;
    if (!word.text.startsWith("-") || word.text === "-") {
      commands.push(words.slice(at));
      break;
    }
    const value = words.slice(at + 1);
    if (left === 0 || word.open || runsOthers(value, ranBy)) return UNSEEN;
    if (value.length > 0) commands.push(value);
    at += 2;
  }
  return ranByAll(commands, runner);
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

/** The next word, or all that follow. */
function ranByTexts(words: Words, at: number, { takesAll = false }: Runner): Ran {
  const joined = /^--call=(.*)$/s.exec(words[at]?.text ?? "")?.[1];
  const given = takesAll ? words.slice(at + 1) : words.slice(at + 1, at + 2);
  const hidden = words.slice(at).some(({ open }) => open);
  return { floor: "run", commands: [], lines: [joined ?? textOf(given)], hidden };
}

function ranByAll(commands: readonly Words[], { only }: Runner): Ran | null {
  const known = commands.filter(([word]) => only?.test(word?.text ?? "") !== false);
  if (known.length === 0) return null;
  if (known.some(([word]) => word === undefined || word.open || word.text === "-")) return UNSEEN;
  return { floor: "run", commands: known.map(withoutVersion), lines: [], hidden: false };
}

/** `npm@latest` is `npm`. */
function withoutVersion([command, ...rest]: Words): Words {
  if (command === undefined) return rest;
  const end = command.text.lastIndexOf("@");
  return [end > 0 ? { ...command, text: command.text.slice(0, end) } : command, ...rest];
}
