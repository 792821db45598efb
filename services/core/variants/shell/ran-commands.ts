/** Commands that run others: which ones, as far as their words say. */
import type { VariantClass } from "../variant-class.ts";
import { parseShell } from "./parse-shell.ts";
import {
  afterOptions,
  FROM_INPUT,
  FROM_LINE,
  NO_OPTION,
  type OptionForms,
  type Ran,
  ranByText,
  UNSEEN,
  type Words,
} from "./ran.ts";
import { ranAsText } from "./ran-as-text.ts";
import { ranByCargo } from "./ran-by-cargo.ts";
import { ranByForeignShell } from "./ran-by-foreign-shell.ts";
import { ranByGit } from "./ran-by-git.ts";
import { ranByRunner } from "./ran-by-runner.ts";
import { ranByTerminal } from "./ran-by-terminal.ts";
import { ranByXargs } from "./ran-by-xargs.ts";
import { ranInContainer } from "./ran-in-container.ts";
import type { ShellWord } from "./shell-line.ts";
import { ASSIGNMENT, RUNNING_INDEX, STRUCTURE, UNREAD } from "./spelling.ts";

interface Wrapper extends OptionForms {
  /** A word among the options that has something else run. */
  readonly hides?: RegExp;
  /** Words of its own before the command. */
  readonly operand?: RegExp;
  /** The same, where a part is not seen: it is one word, and no option if nothing behind it may take its place. */
  readonly openOperand?: RegExp;
  /** `NAME=value` may stand before the command, and changes what that does. */
  readonly assigns?: boolean;
  readonly floor: VariantClass;
  /** What it is without a command; `shell`: it starts one, which reads what nobody sees. */
  readonly alone: VariantClass | "shell";
}

const DURATION = /^\d+(?:\.\d+)?[smhd]?$/;

const TIMEOUT: Wrapper = {
  flags: /^-[ks]\S+$|^-v$|^--(?:preserve-status|foreground|verbose)$|^--(?:kill-after|signal)=/,
  values: /^-[ks]$/,
  operand: DURATION,
  openOperand: /^[\d.]*[smhd]?$/,
  floor: "read",
  alone: "run",
};

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  time: {
    flags: /^-(?:[apv]|-verbose|-portability)$/,
    values: /^-f$/,
    floor: "read",
    alone: "read",
  },
  nice: { flags: /^-n?-?\d+$|^--adjustment=/, values: /^-n$/, floor: "read", alone: "run" },
  ionice: { flags: /^-t$|^-[cn]\d+$/, values: /^-[cn]$/, floor: "read", alone: "run" },
  builtin: { floor: "read", alone: "run" },
  command: { flags: /^-p$/, floor: "read", alone: "run" },
  busybox: { floor: "read", alone: "run" },
  sudo: { assigns: true, floor: "read", alone: "run" },
  doas: { assigns: true, floor: "read", alone: "run" },
  stdbuf: { flags: /^-[ioe]\S+$|^--\w+=/, values: /^-[ioe]$/, floor: "read", alone: "run" },
  timeout: TIMEOUT,
  gtimeout: TIMEOUT,
  env: {
    assigns: true,
    flags:
      /^-[i0v]*$|^--$|^--(?:ignore-environment|null|debug)$|^-[i0v]*[uC].+$|^--(?:unset|chdir)=/,
    values: /^-[i0v]*[uC]$|^--(?:unset|chdir)$/,
    floor: "read",
    alone: "read",
  },
  arch: { flags: /^-(?:x86_64|arm64e?)$/, floor: "read", alone: "read" },
  nohup: { floor: "run", alone: "run" },
  "systemd-run": {
    flags:
      /^-[tPqGrdS]+$|^--(?:user|system|scope|pty|pipe|wait|collect|quiet|same-dir|no-block|remain-after-exit|slice-inherit|send-sighup)$|^--(?:unit|property|setenv|slice|description|uid|gid|nice|working-directory|service-type|host|machine)=/,
    values:
      /^-[puEHM]$|^--(?:unit|property|setenv|slice|description|uid|gid|nice|working-directory|service-type|host|machine)$/,
    // `--shell`, and properties with a command.
    hides: /^-[a-zA-Z]*S|^(?:-p|--property=)?Exec/,
    floor: "run",
    alone: "run",
  },
  setsid: { flags: /^-[cfw]+$/, floor: "run", alone: "run" },
  exec: { flags: /^-[cl]+$/, values: /^-a$/, floor: "run", alone: "run" },
  taskset: {
    flags: /^-[ac]+$|^--(?:all-tasks|cpu-list)$/,
    operand: /^(?:0x)?[\da-f][\da-f,:-]*$/i,
    floor: "run",
    alone: "run",
  },
  chroot: {
    flags: /^--(?:skip-chdir$|(?:groups|userspec)=)/,
    values: /^--(?:groups|userspec)$/,
    operand: /^[^-]/,
    floor: "run",
    alone: "shell",
  },
  unshare: {
    flags:
      /^-[muinpUCTfrc]+$|^--(?:fork|map-root-user|map-current-user|keep-caps)$|^--(?:mount|uts|ipc|net|pid|user|cgroup|time|mount-proc|kill-child)(?:=|$)|^--(?:root|wd|setuid|setgid|propagation|setgroups)=/,
    values: /^-[RwSG]$|^--(?:root|wd|setuid|setgid|propagation|setgroups)$/,
    floor: "run",
    alone: "shell",
  },
  strace: {
    flags:
      /^-[ACcdDfFikqrtTvwxyYzZ]+(?:[abeEIoOpPsSuUX].+)?$|^-[abeEIoOpPsSuUX].+$|^--[a-z-]+=|^--follow-forks$/,
    values: /^-[ACcdDfFikqrtTvwxyYzZ]*[abeEIoOpPsSuUX]$/,
    // Its output may go to a command.
    hides: /^(?:-[a-zA-Z]*o|--output=)?[|!]/,
    floor: "run",
    alone: "run",
  },
};

const SHELLS = new Set(
  "sh bash rbash dash ash zsh ksh rksh ksh93 mksh lksh oksh pdksh posh yash csh tcsh".split(" "),
);

/** Null: the command runs no other. */
export function ranBy(words: Words): Ran | null {
  const name = words[0]?.text ?? "";
  if (name === "xargs") return ranByXargs(words);
  if (SHELLS.has(name)) return ranByShell(words);
  if (name === "source" || name === ".") return ranBySource(words);
  if (name === "eval") return ranByEval(words);
  if (name === "trap") return ranByTrap(words);
  if (name === "alias") return ranByAlias(words);
  if (name === "su" || name === "runuser") return { ...UNSEEN, floor: "run" };
  if (evaluates(name, words)) return UNSEEN;
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  if (wrapper !== undefined) return ranByWrapper(name, wrapper, words);
  if (words.length === 2 && asks(words[1])) return null;
  return ranByTool(name, words);
}

function ranByTool(name: string, words: Words): Ran | null {
  if (name === "flock") return ranByFlock(words);
  if (name === "git") return ranByGit(words);
  if (name === "cargo") return ranByCargo(words);
  return (
    ranByForeignShell(name, words) ??
    ranAsText(name, words) ??
    ranByTerminal(name, words) ??
    ranInContainer(name, words) ??
    ranByRunner(name, words, ranBy)
  );
}

function ranAlone({ alone }: Wrapper): Ran {
  return alone === "shell" ? UNSEEN : { floor: alone, commands: [], lines: [], hidden: false };
}

/** An index of an array is an expression, and runs the substitutions that stand in it or in a variable of it. */
function evaluates(name: string, words: Words): boolean {
  if (name === "let" || name === "unset") return words.some(({ text }) => INDEX.test(text));
  if (name === "export" || name === "readonly") {
    return words.some(({ text }) => RUNNING_INDEX.test(text));
  }
  return DECLARES.has(name) && words.some(({ text }) => SUBSTITUTION.test(text));
}

const SUBSTITUTION = /\$\(|`/;
/** A number alone is none that could run something. */
const INDEX = /\[(?!\d+\])|\$\(|`/;
const DECLARES = new Set(["declare", "typeset", "local"]);

function ranByWrapper(name: string, wrapper: Wrapper, words: Words): Ran {
  let at = afterOptions(words, wrapper);
  let { floor } = wrapper;
  const { hides } = wrapper;
  if (hides !== undefined && words.slice(1, at).some(({ text }) => hides.test(text))) return UNSEEN;
  if (wrapper.operand !== undefined) {
    if (!isOperand(words, at, wrapper.operand, wrapper.openOperand)) return UNSEEN;
    at += 1;
  }
  // Without a variable, or with another, a command may do something else.
  if (wrapper.assigns === true && at > 1) floor = "run";
  while (wrapper.assigns === true && /^[A-Za-z_]\w*=/.test(words[at]?.text ?? "")) {
    floor = "run";
    at += 1;
  }
  const inner = words.slice(at);
  const [command] = inner;
  if (command === undefined) return ranAlone(wrapper);
  // `command -v` only tells what a name means.
  const tells = name === "command" && at === 1 && /^-[vV]$/.test(command.text);
  if (tells) return { floor: "read", commands: [], lines: [], hidden: false };
  if (command.open || !mayBeProgram(command.text)) return UNSEEN;
  return { floor, commands: [inner], lines: [], hidden: false };
}

function isOperand(words: Words, at: number, seen: RegExp, unseen: RegExp | undefined): boolean {
  const { text, open, splits } = words[at] ?? NO_OPTION;
  if (splits) return false;
  const isNext = seen.test(words[at + 1]?.text ?? "");
  return seen.test(text) || (open && !isNext && unseen?.test(text) === true);
}

/** A word that structures lines, or sets a variable, stands where some shell may begin a command after it. */
function mayBeProgram(text: string): boolean {
  const structures = STRUCTURE.has(text) || UNREAD.has(text) || text === "for";
  return !structures && !text.startsWith("-") && !ASSIGNMENT.test(text);
}

const FLOCK: OptionForms = {
  flags:
    /^-[eFnosuvx]+$|^-[Ew].+$|^--(?:shared|exclusive|unlock|nb|nonblock|close|no-fork|verbose)$|^--(?:wait|timeout|conflict-exit-code)=/,
  values: /^-[eFnosuvx]*[Ew]$|^--(?:wait|timeout|conflict-exit-code)$/,
};

/** `flock file command`, `flock file -c text`; a number alone is a file that is open already. */
function ranByFlock(words: Words): Ran {
  const at = afterOptions(words, FLOCK);
  const file = words[at] ?? NO_OPTION;
  if (file.startsOpen || file.splits || file.text.startsWith("-")) return UNSEEN;
  const inner = words.slice(at + 1);
  const [command] = inner;
  if (command === undefined) return { floor: "run", commands: [], lines: [], hidden: false };
  const takesText = !command.open && /^-c$|^--command$/.test(command.text);
  if (takesText) return inner.length === 2 ? ranByText(inner.slice(1)) : UNSEEN;
  if (command.open || !mayBeProgram(command.text)) return UNSEEN;
  return { floor: "run", commands: [inner], lines: [], hidden: false };
}

/** `sh -c text`, `sh file`; without either it reads what it is given, which nobody sees. */
function ranByShell(words: Words): Ran | null {
  if (words.length === 2 && asks(words[1])) return null;
  const at = afterShellOptions(words);
  const next = words[at];
  if (next === undefined) return UNSEEN;
  const takesText = words.slice(1, at).some(({ text }) => /^[-+][a-zA-Z]*c/.test(text));
  if (takesText) return ranByText([next]);
  if (isStream(next) || next.text.startsWith("-")) return UNSEEN;
  // It may turn out to be `-c`, or nothing at all.
  return { floor: "run", commands: [], lines: [], hidden: mayBeOption(next) };
}

/**
 * Options of shells that stand alone and ask for neither input nor a file. `c` is one, beside the text that it
 * announces; `-rcfile` is the long option of `bash`, which takes one hyphen, too.
 */
const SHELL_FLAGS = /^(?!-rcfile$)[-+][acefhiklmnpruvxBCEHP]+$|^--(?:norc|noprofile|posix|login)$/;
/** The next word is the value. `-oO` has two values in one shell, and one inside in another: it is not known. */
const SHELL_VALUE = /^[-+][acefhiklmnpruvxBCEHP]*[oO]$/;

/** Beyond the words where an option is not known, or not seen. */
function afterShellOptions(words: Words): number {
  for (let at = 1; ; at += 1) {
    const { text, open } = words[at] ?? NO_OPTION;
    if (!/^[-+]/.test(text)) return at;
    if (open) return words.length;
    if (/^--?$/.test(text)) return at + 1;
    if (SHELL_VALUE.test(text) && isPlain(words[at + 1])) at += 1;
    else if (!SHELL_FLAGS.test(text)) return words.length;
  }
}

function isPlain(word: ShellWord | undefined): boolean {
  return word?.open === false && /^\w/.test(word.text);
}

/** A path or a name with a dot is no option; braces may become several words. */
function mayBeOption({ text, startsOpen, splits }: ShellWord): boolean {
  return splits || (startsOpen && (text.includes("{") || !/[./]/.test(text)));
}

/** Version or help alone. */
function asks(word: ShellWord | undefined): boolean {
  return word?.open === false && /^--(?:version|help)$/.test(word.text);
}

/** `source file`: what is in a file is not seen, as where a shell runs it. Null as `ranBy`. */
function ranBySource(words: Words): Ran | null {
  const file = words[afterHyphens(words)] ?? NO_OPTION;
  return isStream(file) || file.text.startsWith("-") ? UNSEEN : null;
}

/** Files that are what a command is given, or what another one says. */
const STREAM = /^[/.]*\/(?:dev|proc)\/|(?:^|\/)(?:stdin$|fd\/)/;

/** The first directory is only known when it runs. */
const OPEN_ROOT = /^\/+[^/]*[*?[{]/;

function isStream({ text, open, streams }: ShellWord): boolean {
  return streams || STREAM.test(text) || (open && OPEN_ROOT.test(text));
}

function ranByEval(words: Words): Ran {
  const at = afterHyphens(words);
  return at === 1 && words[1]?.text.startsWith("-") ? UNSEEN : ranByText(words.slice(at));
}

/** `trap text signal`; a word alone is a signal, `-` and the options take back or show. */
function ranByTrap(words: Words): Ran {
  const at = afterHyphens(words);
  const { text, open } = words[at] ?? NO_OPTION;
  if (at === 1 && !open && /^-[lpP]*$/.test(text)) return ranByText([]);
  if (at === 1 && text.startsWith("-")) return UNSEEN;
  return ranByText(open || words.length > at + 1 ? words.slice(at, at + 1) : []);
}

/** `alias name=text`: the text runs later, alone or with words behind it that nobody sees now. */
function ranByAlias(words: Words): Ran {
  const at = afterHyphens(words);
  const given = words.slice(words[at]?.text === "-p" ? at + 1 : at);
  const aliases = given.flatMap(({ text }) => {
    const end = text.indexOf("=");
    return end < 0 ? [] : [{ name: text.slice(0, end), line: text.slice(end + 1) }];
  });
  const lines = aliases.map(({ line }) => line);
  const commands = aliases.flatMap(({ name, line }) =>
    lastOf(line).map((last) => extended(name, last)),
  );
  // Two words are a name and a text in some shells.
  const isOther = given.length > 1 && given[0]?.text.includes("=") === false;
  const isUnknown = given.some(({ text, open }) => open || text.startsWith("-"));
  const hidden = isOther || isUnknown || lines.some(ends) || commands.some(runsMore);
  return { floor: "run", commands: hidden ? [] : commands, lines, hidden };
}

/** `alias rm='rm -i'` adds options alone: what else the later line says, it says itself. */
function extended(name: string, last: Words): Words {
  const addsOptions = last[0]?.text === name && last.slice(1).every(({ text }) => /^-/.test(text));
  return [...last, addsOptions ? FROM_INPUT : FROM_LINE];
}

/** Words behind the line are a command of their own. */
function ends(line: string): boolean {
  return /[;&\n][ \t]*$/.test(line);
}

/** The command that words behind the line belong to; none: it cannot be read, which is told with the line. */
function lastOf(line: string): readonly Words[] {
  const read = parseShell(line);
  return read === null ? [] : [read.commands.at(-1)?.words ?? []];
}

/** Not looked into twice, by itself and with the words behind it: each line in it could be two commands again. */
function runsMore(words: Words): boolean {
  if (words[0]?.text === "alias") return true;
  const ran = ranBy(words);
  return ran !== null && (ran.hidden || ran.lines.length > 0 || ran.commands.some(runsMore));
}

/** The first word behind the two hyphens that end options, where they are the first. */
function afterHyphens(words: Words): number {
  const { text, open } = words[1] ?? NO_OPTION;
  return text === "--" && !open ? 2 : 1;
}
