/** Programs under another name: `git-push` is `git push`. */
import { afterOptions, type OptionForms, type Words } from "./ran.ts";
import type { ShellWord } from "./shell-line.ts";

/** The words as they are under the name that rules know; null: it has no other. */
export function underUsualName(words: Words): Words | null {
  const [first, ...rest] = words;
  if (first?.text === "yarn") return inWorkspace(first, rest);
  if (first !== undefined && PYTHON.test(first.text)) return asModule(words);
  const usual = first === undefined || first.open ? null : usualOf(first.text);
  return usual === null ? null : [...usual.split(" ").map(plainWord), ...rest];
}

/** Its modules are programs: it stays what it is itself. */
export const PYTHON = /^(?:python|pypy)[\d.]*$/;

const PYTHON_OPTIONS: OptionForms = {
  flags: /^-[bBdEiIOPqsSuvx]+$|^-[bBdEiIOPqsSuvx]*[WX].+$/,
  values: /^-[bBdEiIOPqsSuvx]*[WX]$/,
};

/** `python -m pip install a` is `pip install a`. */
function asModule(words: Words): Words | null {
  const at = afterOptions(words, PYTHON_OPTIONS);
  const [option, name] = words.slice(at);
  if (option === undefined || name === undefined || option.open || name.open) return null;
  return /^-[bBdEiIOPqsSuvx]*m$/.test(option.text) && /^\w/.test(name.text)
    ? words.slice(at + 1)
    : null;
}

function usualOf(name: string): string | null {
  if (name === "docker-compose" || name === "podman-compose") return name.replace("-", " ");
  if (name === "gmake") return "make";
  if (name === "sls") return "serverless";
  if (name === "cargo-watch") return "cargo watch";
  return /^git-[a-z]/.test(name) ? name.replace("-", " ") : null;
}

/** `yarn workspace a test` is `yarn test`, as it is for each of them. */
function inWorkspace(first: ShellWord, [group, name, ...rest]: Words): Words | null {
  if (group === undefined || name === undefined || group.open) return null;
  const isEach = group.text === "workspaces" && /^(?:foreach|run)$/.test(name.text);
  return isEach || group.text === "workspace" ? [first, ...rest] : null;
}

/** Names by which rules may know a program or a group whose subcommand is not seen. */
export function namesOf(program: string): readonly string[] {
  return /^docker(?: compose)?$/.test(program) ? [program, "docker-compose"] : [program];
}

export function plainWord(text: string): ShellWord {
  return { text, open: false, startsOpen: false, splits: false, streams: false };
}
