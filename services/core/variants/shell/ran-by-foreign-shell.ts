/** Shells with a language of their own: their lines are read as far as the language is the same. */
import { afterOptions, type OptionForms, type Ran, ranByText, UNSEEN, type Words } from "./ran.ts";

interface ForeignShell extends OptionForms {
  /** The option before a text. */
  readonly text: RegExp;
  /** Texts with more than this may mean something else. */
  readonly plain: RegExp;
  /** All words behind the option are the text. */
  readonly takesAll?: boolean;
}

/** Words of the language, wherever they stand. */
const KEYWORD =
  /(?:^|[\s;&|])(?:and|or|not|begin|end|if|else|while|for|switch|case|function|builtin|abbr|alias|def|do|try|run-external|iex|icm|start|saps|sal|nal|\.|(?:invoke|start|set|new)-[a-z]+)(?=[\s;]|$)/i;
/** Neither quotes nor expansions nor escapes. */
const SCRIPT = /^[\w./]\S*\.(?:fish|ps1|nu|elv|xsh)$/;
const NO_TEXT = /^(?!)/;
const PLAIN = /^[\w\s./:=,@+;|&-]*$/;

const POWERSHELL: ForeignShell = {
  text: /^--?c(?:o(?:m(?:m(?:a(?:nd?)?)?)?)?)?$/i,
  flags: /^--?(?:nop(?:rofile)?|noni(?:nteractive)?|nol(?:ogo)?|l(?:ogin)?|f(?:ile)?)$/i,
  values: /^--?(?:ep|ex(?:ecutionpolicy)?|wd|workingdirectory)$/i,
  plain: PLAIN,
  takesAll: true,
};

const FOREIGN: Readonly<Record<string, ForeignShell>> = {
  fish: {
    text: /^-[ilNP]*c$|^--command$/,
    flags: /^-[ilNP]+$|^--(?:interactive|login|no-config|private)$/,
    plain: /^[^\\(){}$]*$/,
  },
  pwsh: POWERSHELL,
  powershell: POWERSHELL,
  nu: { text: /^-c$|^--commands$/, flags: /^-[ln]$|^--(?:login|no-config-file)$/, plain: PLAIN },
  elvish: { text: /^-c$/, flags: /^-norc$/, plain: NO_TEXT },
  xonsh: { text: /^-c$/, flags: /^-[il]$|^--(?:no-rc|interactive|login)$/, plain: NO_TEXT },
};

/** Null: it is none of them, or tells its version. */
export function ranByForeignShell(name: string, words: Words): Ran | null {
  const shell = Object.hasOwn(FOREIGN, name) ? FOREIGN[name] : undefined;
  if (shell === undefined) return null;
  const at = afterOptions(words, shell);
  const option = words[at];
  if (option === undefined || option.open) return UNSEEN;
  // A file, as where another shell runs it.
  if (SCRIPT.test(option.text)) return { ...ranByText([]), lines: [] };
  if (!shell.text.test(option.text)) return UNSEEN;
  const given = shell.takesAll === true ? words.slice(at + 1) : words.slice(at + 1, at + 2);
  if (given.length === 0) return UNSEEN;
  const ran = ranByText(given);
  const isPlain = ran.lines.every((line) => shell.plain.test(line) && !KEYWORD.test(line));
  return { ...ran, hidden: ran.hidden || !isPlain };
}
