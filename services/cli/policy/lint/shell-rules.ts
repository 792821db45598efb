/** Rules about commands that none can fit: a rule sees the words of one command, and no signs of the shell. */
import type { PolicyDocument, VariantRule } from "../../../core/policy/document.ts";
import { compileGlobs } from "../../../core/policy/glob.ts";
import type { PathSegment } from "../../../core/policy/path.ts";
import { partsOfShell } from "../../../core/variants/shell/classify-shell.ts";
import type { LintRule, Report } from "./finding.ts";
import { END, plainPattern, START } from "./plain-pattern.ts";

type Fault = { readonly message: string; readonly mend: string };

export const lintShellRules: LintRule = (document: PolicyDocument, report) => {
  for (const [name, { variants }] of Object.entries(document.tool_schemas ?? {})) {
    (variants?.rules ?? []).forEach((rule, index) => {
      const path = ["tool_schemas", name, "variants", "rules", index];
      switch (variants?.set) {
        case "posix_shell":
          lintRule(rule, path, SHELL, report);
          break;
        case "git":
          lintRule(rule, path, GIT, report);
          break;
        case "sql":
          lintRule(rule, path, SQL, report);
          break;
        case "http":
        case undefined:
          break;
      }
    });
  }
};

/** What is wrong with a rule of a set, as it is written. */
interface Language {
  /** Of one alternative of an expression. */
  readonly ofPattern: (text: string) => Fault | null;
  readonly ofText: (text: string) => Fault | null;
  readonly ofGlob: (glob: string) => Fault | null;
  /** What of a text says that no space stands at its ends; undefined: one may. */
  readonly ends?: string;
}

function lintRule(
  { match, equals = [], like }: VariantRule,
  path: readonly PathSegment[],
  { ofPattern, ofText, ofGlob, ends }: Language,
  report: Report,
): void {
  const told = (key: string, fault: Fault | null): void => {
    if (fault !== null) report("warning", "unfit-rule", [...path, key], fault.message, fault.mend);
  };
  const alternatives = match === undefined ? [] : plainPattern(match);
  const faultOf = (text: string): Fault | null =>
    noText(text) ?? atEnds(text, ends) ?? ofPattern(text.replaceAll(END, ""));
  told("match", alternatives.map(faultOf).find((one) => one !== null) ?? null);
  for (const text of equals) told("equals", ofText(text));
  for (const glob of like?.split("|") ?? []) told("like", ofGlob(glob.trim()));
}

/** What begins or goes on behind the end. */
function noText(text: string): Fault | null {
  if (!new RegExp(`${END}[^${END}]`).test(text)) return null;
  const message = "something stands behind `$`, the end of the text: no text fits";
  return { message, mend: "leave `$` out, or write it as `\\$` where it is a letter" };
}

const SPACED = new RegExp(`^${START}+ +[^ ${END}]|[^ ${START}] +${END}`);

function atEnds(text: string, ends: string | undefined): Fault | null {
  if (ends === undefined || !SPACED.test(text)) return null;
  const message = `${ends}: a space at the ends fits only where a word is empty or not seen`;
  return { message, mend: "leave the space out" };
}

type Sign = readonly [sign: RegExp, name: string];

/** What stands between commands, and is never part of one. */
const BETWEEN: readonly Sign[] = [
  [/&&/, "`&&`"],
  [/\|/, "`|`"],
  // A last `;` may be that of `find -exec`.
  [/;[^\S\n]*[\w./*&|]/, "`;`"],
  [/(?:^|[^-=])>/, "a redirection"],
  [/(?:^|\s)&(?:\s|$)|[^&]&$/, "`&`"],
  [new RegExp(`^${START}[A-Za-z_]\\w*\\+?=`), "a variable before a command"],
];

/** What stands beside the words, or is gone from them once they are read. */
const TAKEN: readonly Sign[] = [
  [new RegExp(`(?:^|[\\s${START}])\\d*<(?!\\w*>)|<[<(]`), "a redirection"],
  [/\$[A-Za-z_({]|`/, "an expansion"],
  [new RegExp(`(?:^|[\\s=${START}])["']`), "a quote"],
  [/[\t\n]/, "a tab or a line feed"],
  [/\S {2,}\S/, "more than one space"],
  [
    new RegExp(`^${START}(?:if|then|elif|else|fi|while|until|for|do|done|!|\\{|\\}) `),
    "a word that structures a line",
  ],
];

function signIn(text: string, signs: readonly Sign[]): string | null {
  return signs.find(([sign]) => sign.test(text))?.[1] ?? null;
}

const SEEN =
  "the rules of a shell see one command at a time, its words joined by single spaces, without quotes and expansions";
const FOR_COMMANDS =
  "write rules for the commands themselves, as their words are; output to a file is a write anyway";

function unfit(seen: string, what: string, mend = FOR_COMMANDS): Fault {
  return { message: `${seen}: ${what} fits only inside of a quoted word`, mend };
}

const SHELL: Language = {
  ends: SEEN,
  ofPattern: (text) => {
    const sign = signIn(text, [...BETWEEN, ...TAKEN]);
    return sign === null ? null : unfit(SEEN, sign);
  },
  ofText: (text) => {
    const texts = textsOf(text);
    if (texts === null || texts.includes(text)) return null;
    const [own = "", ...more] = texts;
    const isOne = more.length === 0 && own !== "" && own === own.trimEnd();
    const mend = isOne ? `write \`${own}\`` : FOR_COMMANDS;
    if (own === text.trim()) {
      const message = `${SEEN}: a space at the ends fits only where a word is empty or not seen`;
      return { message, mend };
    }
    return unfit(SEEN, signIn(START + text, [...BETWEEN, ...TAKEN]) ?? "this", mend);
  },
  ofGlob: (glob) => {
    const fits = compileGlobs(glob, false);
    const samples = STAND_INS.map((one) => textsOf(glob.replaceAll("*", one)));
    const read = samples.filter((texts) => texts !== null);
    if (read.length === 0 || read.some((texts) => texts.some(fits))) return null;
    return unfit(SEEN, signIn(START + glob, [...BETWEEN, ...TAKEN]) ?? "this");
  },
};

/** What may stand for `*`. */
const STAND_INS = ["x", "x y", ""];

/** The texts that rules see of a line; null: it cannot be read. */
function textsOf(line: string): readonly string[] | null {
  return partsOfShell(line, { session: true })?.flatMap(({ texts }) => texts) ?? null;
}

/** A command counts without what ends it, and where nobody wrote that, the rule does not. */
function ending(text: string): Fault | null {
  if (!/;\s*$/.test(text)) return null;
  const message = "`;` at the end fits only where it is written, and the same runs without it";
  return { message, mend: "leave it out; in an expression, write `;?$`" };
}

const ONE_COMMAND = "the rules of `git` see one command";

function faultOfGit(text: string): Fault | null {
  const sign = signIn(text, BETWEEN);
  return sign === null ? ending(text) : unfit(ONE_COMMAND, sign);
}

const GIT: Language = {
  ofPattern: faultOfGit,
  ofText: (text) => faultOfGit(START + text),
  ofGlob: (glob) => faultOfGit(START + glob),
};

const SQL: Language = { ofPattern: ending, ofText: ending, ofGlob: ending };
