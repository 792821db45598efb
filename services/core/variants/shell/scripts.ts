/** Scripts of `sed` and `awk`: whether they only print. Both can write files and run commands. */
import type { ShellWord } from "./shell-line.ts";

const SED_OPTION = /^(?:-[nErsuz]+|--(?:quiet|silent|regexp-extended|null-data|unbuffered))$/;
const SED_SCRIPT_OPTION = /^-[nErsuz]*e$|^--expression$/;

/** True where nothing of the command writes: no `-i`, and a script of printing commands alone. */
export function isPrintingSed(words: readonly ShellWord[]): boolean {
  const given: ShellWord[] = [];
  const operands: ShellWord[] = [];
  for (let at = 1; at < words.length; at++) {
    const word = words[at] as ShellWord;
    if (word.startsOpen) return false;
    if (SED_SCRIPT_OPTION.test(word.text)) {
      at += 1;
      given.push(words[at] ?? NO_WORD);
    } else if (!word.text.startsWith("-") || word.text === "-") operands.push(word);
    else if (!SED_OPTION.test(word.text)) return false;
  }
  const scripts = given.length > 0 ? given : operands.slice(0, 1);
  return scripts.length > 0 && scripts.every(({ text, open }) => !open && printsOnly(text));
}

const NO_WORD: ShellWord = {
  text: "",
  open: true,
  startsOpen: true,
  splits: true,
  streams: false,
};

/** Letters in brackets. One that would end the expression elsewhere does not in there: none is taken. */
const BRACKETS = String.raw`\[\^?\]?(?:\[:\w+:\]|\\[^\]\n]|(?!END)[^\]\\\n[])*\]`;
const SLASHED = String.raw`\/(?:${BRACKETS.replace("END", "\\/")}|[^/\\\n[]|\\.)*\/I?`;
const ADDRESS = String.raw`(?:\d+|\$|${SLASHED})?`;
const REPLACE = String.raw`(?:s|y)([/|#,@:])(?:${BRACKETS.replace("END", "\\1")}|(?!\1)[^\\\n[]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI0-9]*`;

/** Addresses, then one of the commands that neither write nor run. */
const SED_STEP = new RegExp(
  String.raw`${ADDRESS}(?: *[,~] *[+~]?${ADDRESS})?\s*(?:!\s*)?(?:[pdq=lnNhHgGxDP]|${REPLACE})\s*(?:;|\n|$|\})\s*`,
  "y",
);

function printsOnly(script: string): boolean {
  const text = script.trim();
  let at = 0;
  while (at < text.length) {
    if (text.charAt(at) === "}" || text.charAt(at) === ";") {
      at += 1;
      continue;
    }
    SED_STEP.lastIndex = at;
    const step = SED_STEP.exec(text);
    if (step === null || step[0] === "") return false;
    at = SED_STEP.lastIndex;
  }
  return text !== "";
}

/** What an `awk` program can write, run or read with. */
const AWK_ACTS = /[>|@]|\bsystem\b|\bgetline\b|\bclose\b|\bfflush\b|\bprintf?\s*>/;

/** True where the program is in plain sight and has no way to write or to run anything. */
export function isPrintingAwk(words: readonly ShellWord[]): boolean {
  let at = 1;
  for (; at < words.length; at++) {
    const { text, startsOpen } = words[at] as ShellWord;
    if (startsOpen) return false;
    if (/^-F./.test(text) || /^-v\w+=/.test(text)) continue;
    if (text !== "-F" && text !== "-v") break;
    at += 1;
  }
  const program = words[at];
  if (program === undefined || program.open || program.text.startsWith("-")) return false;
  const rest = words.slice(at + 1);
  // Later words could be options of some versions, and assignments of variables.
  if (rest.some(({ text, startsOpen }) => startsOpen || text.startsWith("-"))) return false;
  // A comparison is written with `>` as well: such programs count as writing.
  return !AWK_ACTS.test(program.text.replaceAll("||", "").replaceAll(">=", ""));
}
